import { JOB_ACK_WAIT_MS } from "@troupe/contracts";

/** How jobs of one kind are done; all times in milliseconds. */
export interface JobRules {
  /** Jobs in hand at once in this process. */
  readonly concurrency: number;
  /** Attempts in a row that may fail before the job is given up. */
  readonly maxAttempts: number;
  /** Pause after the first failed attempt; it doubles with each, up to the longest. */
  readonly backoffMs: number;
  readonly longestBackoffMs: number;
  /** How long one look and the work on one piece may take at most; afterwards the attempt has failed. */
  readonly lookMs: number;
  readonly workMs: number;
  /** Pieces done in a row before others have their turn, and for how long the rest waits then. */
  readonly maxRounds: number;
  readonly yieldMs: number;
  /** How long a delivered job stays here unless it says `working`, and how often it says so. */
  readonly ackWaitMs: number;
  readonly workingMs: number;
  /** Before a job that only a newer version understands is offered to others again. */
  readonly newerMs: number;
  /** Tries of what must not be left half done after the work, and the pause between them. */
  readonly settleTries: number;
  readonly settlePauseMs: number;
}

/**
 * Six attempts over about five minutes: longer than a provider's hiccup, short enough that a person who looks finds the
 * dead letter the same day. A look reads a few stored texts, each within five seconds; a piece may be several calls of a
 * slow model with all their retries, but an hour is no work any more. `working` is due three times before the job would be given to another process.
 */
export const JOB_DEFAULTS: JobRules = {
  concurrency: 2,
  maxAttempts: 6,
  backoffMs: 10_000,
  longestBackoffMs: 600_000,
  lookMs: 15_000,
  workMs: 3_600_000,
  maxRounds: 4,
  yieldMs: 1_000,
  ackWaitMs: JOB_ACK_WAIT_MS,
  workingMs: 3_000,
  newerMs: 10_000,
  settleTries: 3,
  settlePauseMs: 500,
};

/**
 * The pause after so many failures in a row: exponential, and between half and all of it by chance (`random` in [0, 1)),
 * so that jobs that failed together do not come back together, and none comes back at once.
 */
export function backoffMs(rules: JobRules, failures: number, random: number): number {
  const whole = Math.min(rules.longestBackoffMs, rules.backoffMs * 2 ** (failures - 1));
  return Math.round(whole * (0.5 + random / 2));
}
