import type { JobKind, SessionKey } from "@troupe/contracts";

/** What a look at the newest state of a session says about one kind of job. */
export interface Look {
  /** Of the state that was looked at. */
  readonly generation: number;
  /**
   * Names the piece of work that is due now; null when none is. A piece that was done is never due again under the same
   * name: whoever says so is taken for broken (J2).
   */
  readonly due: string | null;
}

export interface JobTask {
  readonly key: SessionKey;
  /** As of the look that found it due. */
  readonly generation: number;
  readonly piece: string;
  /** W3C traceparent of what set the job off. */
  readonly trace: string | undefined;
}

export type JobOutcome =
  /** The piece is done and stored. */
  | { readonly kind: "done" }
  /** The state has moved on: nothing was written, and what is due now is for the next look to say. */
  | { readonly kind: "stale" }
  /** A failed attempt. `afterMs`: not before, if somebody said so. */
  | { readonly kind: "retry"; readonly reason: string; readonly afterMs?: number }
  /** It will never succeed. */
  | { readonly kind: "give-up"; readonly reason: string };

/** One kind of derived work. A promise of its that rejects is a failed attempt. */
export interface JobHandler {
  readonly kind: JobKind;
  /** Looks at the newest state: through the stream's leader, never at a copy that may lag. */
  due(key: SessionKey): Promise<Look>;
  /**
   * Does one piece. It may be done twice at the same time by two processes, so what it writes must be fenced: by the
   * state's revision, or by ids that are the same each time. When `signal` aborts nobody waits for it any more.
   */
  work(task: JobTask, signal: AbortSignal): Promise<JobOutcome>;
  /** For how long derived work has to stand back now, because a provider is short and turns come first; 0: not at all. */
  standBackMs?(): number;
}
