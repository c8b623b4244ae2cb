import type { Actor } from "./actor.js";
import type { Ports } from "./ports.js";

/** How a host and its activations behave; all times in milliseconds. */
export interface HostOptions {
  /** How long others respect the lease without hearing of it again, and how often it is renewed. */
  readonly leaseMs: number;
  readonly renewMs: number;
  /** Inputs folded into one commit at most. */
  readonly maxFold: number;
  /** An owner that has not answered offers for this long is taken for dead before its lease ends. */
  readonly silenceMs: number;
  /** Pause before a bell that its owner did not take rings again. */
  readonly busyDelayMs: number;
  /** How often owners say that they still work; well under half of the consumer's ack wait. */
  readonly workingMs: number;
  /** Released entries kept in memory, so that the next activation need not read them. */
  readonly keep: number;
}

/**
 * Lease and renewal: a dead owner is noticed by its silence long before the lease ends, a paused
 * one after it; ten seconds spare a slow process the double work, three renew it in time.
 */
export const HOST_DEFAULTS: HostOptions = {
  leaseMs: 10_000,
  renewMs: 3_000,
  maxFold: 32,
  silenceMs: 1_500,
  busyDelayMs: 500,
  workingMs: 1_000,
  keep: 512,
};

export interface HostBase<F, M, R, O> {
  readonly actorOf: (key: string) => Actor<F, M, R, O>;
  readonly ports: Ports<F, R, O>;
  /** Id of this process start: never used before, one subject token. */
  readonly processId: string;
  readonly options: HostOptions;
}
