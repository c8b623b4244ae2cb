/** What a consumer of jobs tells its process, for log, metrics and traces. `subject` is the job's. */
export type JobEvent =
  | { readonly kind: "begun"; readonly subject: string; readonly attempt: number }
  | { readonly kind: "worked"; readonly subject: string; readonly piece: string; readonly how: "done" | "stale" }
  /** Nothing is due any more and the job is off the queue. `again`: a next one was put there (J3). */
  | { readonly kind: "settled"; readonly subject: string; readonly again: boolean }
  | { readonly kind: "failed"; readonly subject: string; readonly failures: number; readonly reason: string }
  | { readonly kind: "dead"; readonly subject: string; readonly reason: string }
  /** Given back without a failure: others come first, a provider is short, or this process ends. */
  | { readonly kind: "given-back"; readonly subject: string; readonly why: "turns" | "others" | "drain" | "early" }
  /** Another process has it now. */
  | { readonly kind: "lost"; readonly subject: string }
  /** Once per version: left to processes that know it. */
  | { readonly kind: "newer"; readonly subject: string; readonly version: number }
  | { readonly kind: "trouble"; readonly subject: string; readonly what: string; readonly cause: unknown };
