import {
  type DeadLetter,
  deadSubject,
  type Job,
  type JobDelivery,
  type JobKind,
  jobSubject,
  parseJobSubject,
  SCHEMA_VERSION,
  type SessionKey,
} from "@troupe/contracts";
import type { ListedPublish, PublishEffect } from "@troupe/kernel";

/** The job of a kind, as an effect of the commit that it is derived from (K3). Emit it only while work is due. */
export function jobEffect(kind: JobKind, key: SessionKey, generation: number): PublishEffect {
  const body: Omit<Job, "id"> = { v: SCHEMA_VERSION, kind, session: key, generation };
  return { subject: jobSubject(kind, key), body };
}

/** The next job, after this one: under an id that follows from it, so that repeating it is harmless. */
export function nextJob(job: Job, generation: number, { subject, seq, at, trace }: JobDelivery): ListedPublish {
  const id = `${subject}:${seq}:${at}:next`;
  return published(id, subject, { ...job, id, generation }, trace);
}

/** A dead letter is for a person to look at; what is longer than any job is not shown whole. */
const MAX_BODY = 16_384;

/** J4: always the same id for the same message, so that a crash before the ack doubles nothing. */
export function deadJob({ subject, seq, at, text, trace }: JobDelivery, why: string): ListedPublish {
  const isWhole = text.length <= MAX_BODY;
  const id = `${subject}:${seq}:${at}:dead`;
  const letter: DeadLetter = {
    v: SCHEMA_VERSION,
    id,
    kind: "job",
    subject,
    seq,
    reason: isWhole ? why : `${why} (kept: ${MAX_BODY} of ${text.length} characters)`,
    body: isWhole ? text : text.slice(0, MAX_BODY).toWellFormed(),
    ...(isWhole ? {} : { truncated: true }),
  };
  return published(id, deadSubject("job", parseJobSubject(subject)?.key ?? null), letter, trace);
}

function published(id: string, subject: string, body: object, trace: string | undefined): ListedPublish {
  return { kind: "publish", id, bell: null, subject, body: { ...body }, ...(trace === undefined ? {} : { trace }) };
}
