import type { JobKind, SessionKey } from "@troupe/contracts";
import type { ListedPublish } from "@troupe/kernel";
import { jobEffect } from "../job-message.js";

export interface JobOf {
  readonly kind: JobKind;
  readonly key: SessionKey;
  readonly generation: number;
  readonly trace?: string;
}

/** A job as a commit lists it: the kernel gives it its id, in the body too. */
export function listedJob(id: string, { kind, key, generation, trace }: JobOf): ListedPublish {
  const { subject, body } = jobEffect(kind, key, generation);
  const traced = trace === undefined ? {} : { trace };
  return { kind: "publish", id, bell: null, subject, body: { ...body, id }, ...traced };
}
