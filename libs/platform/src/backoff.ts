import { setTimeout as after } from "node:timers/promises";

export interface BackoffOptions {
  /** Upper bound of the first wait. */
  readonly minMs: number;
  /** Upper bound of every wait. */
  readonly maxMs: number;
  /** In [0, 1); default `Math.random`. */
  readonly random?: () => number;
}

export interface Backoff {
  /** The next wait in milliseconds. */
  next(): number;
  /** Begins again, after a success. */
  reset(): void;
}

/**
 * Exponential back-off with full jitter: a wait is uniform between 0 and min(maxMs, minMs · 2ⁿ), which spreads clients
 * that failed together better than a fixed wait plus noise.
 * Source: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 */
export function backoff({ minMs, maxMs, random = Math.random }: BackoffOptions): Backoff {
  let attempt = 0;
  return {
    next: () => Math.floor(random() * Math.min(maxMs, minMs * 2 ** attempt++)),
    reset: () => {
      attempt = 0;
    },
  };
}

/** Resolves after `ms`; rejects with an `AbortError` as soon as `signal` aborts. */
export async function delay(ms: number, signal?: AbortSignal): Promise<void> {
  await after(ms, undefined, signal === undefined ? {} : { signal });
}
