import type { JobKind } from "./job.js";

/**
 * Jobs as they come out of JOBS, for whoever does them. Any promise may reject: what came of the request is then
 * unknown.
 */
export interface JobSource {
  /** Delivers the jobs of one kind until stopped; each to one process at a time. */
  pull(options: JobPull): Promise<{ stop(): Promise<void> }>;
}

export interface JobPull {
  readonly kind: JobKind;
  /** Jobs delivered and not answered yet; never more than this. */
  readonly capacity: number;
  /** Must not throw. */
  readonly onJob: (job: JobDelivery) => void;
  /** One line for the log: something is not as it should be, and is being mended. */
  readonly onTrouble: (line: string) => void;
}

/** One delivery of a job. Unanswered for `JOB_ACK_WAIT_MS` it is delivered again, to anybody. */
export interface JobDelivery {
  readonly subject: string;
  readonly seq: number;
  /** When JOBS took it in, milliseconds since the epoch. */
  readonly at: number;
  readonly text: string;
  /** W3C traceparent. */
  readonly trace: string | undefined;
  /** Resolves when the job is known to be gone and its subject takes the next one. May be repeated. */
  ack(): Promise<void>;
  /** Gives it back, to be delivered again after the delay at the earliest. A lost one only means: later. */
  nak(delayMs: number): void;
  /** Resolves when the job stays here for another `JOB_ACK_WAIT_MS`, counted from the call at least. */
  working(): Promise<void>;
  /** Answers nothing; whoever has it or gets it goes on. */
  letGo(): void;
}
