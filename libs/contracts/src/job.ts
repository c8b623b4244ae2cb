import { z } from "zod";
import { Envelope } from "./envelope.js";
import { sessionOfKey } from "./session-id.js";

/**
 * Jobs: work derived from what a session's state says, done later by whoever has time for it.
 *
 * A job says only where to look. What there is to do is read from the newest state, so that one waiting job per kind
 * and session is enough, and a second one adds nothing. The laws of doing it (J1 …) are in `libs/domain/jobs`.
 */
export const JOB_KINDS = ["consolidation", "embedding", "review"] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** Every kind, with the durable consumer that all processes doing it share. */
export const JOBS: Readonly<Record<JobKind, { readonly consumer: string; readonly does: string }>> = {
  consolidation: { consumer: "consolidation-jobs", does: "turns finished conversation into long-term memory" },
  embedding: { consumer: "embedding-jobs", does: "computes the vectors that are still missing" },
  review: { consumer: "review-jobs", does: "looks through past turns for skills and facts worth keeping" },
};

export const Job = Envelope.extend({
  kind: z.enum(JOB_KINDS),
  /** The key of the session; the subject names it too. */
  session: z.string().refine((key) => sessionOfKey(key) !== undefined, "no session key"),
  /** Of the state that it was derived from (K10): a state of a lower one is not the newest. */
  generation: z.number().int().nonnegative(),
});
export type Job = z.infer<typeof Job>;

/**
 * How often a waiting job was tried, in the bucket `attempts` under `<kind>.<key>`. Replaced by compare-and-set before
 * and after each attempt, so that it also says which process may still speak about the job.
 */
export const JobAttempts = z.object({
  v: z.number().int().positive(),
  /** The message in JOBS that is meant, `<sequence>@<time>`; of any other this record says nothing. */
  job: z.string(),
  /** Attempts in a row that are known to have failed. */
  failures: z.number().int().nonnegative(),
  /** An attempt has begun and its end is not known. */
  isOpen: z.boolean(),
  /** Wall clock, milliseconds: not tried again before. */
  notBefore: z.number(),
  /** Why the last one failed; empty when none has. */
  reason: z.string(),
});
export type JobAttempts = z.infer<typeof JobAttempts>;
