import { delay } from "@troupe/platform";

/** Time, as the delivery desk sees it; tests bring their own. */
export interface DeliveryClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds that never jump. */
  monotonic(): number;
  /** Resolves after the time, or earlier when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Calls again and again until the result is called. */
  every(ms: number, fn: () => void): () => void;
}

export const systemClock: DeliveryClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => delay(ms, signal).catch(() => undefined),
  every: (ms, fn) => {
    const timer = setInterval(fn, ms);
    return () => clearInterval(timer);
  },
};
