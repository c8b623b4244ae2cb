import { setImmediate as turnOfLoop } from "node:timers/promises";
import type { DeliveryClock } from "../src/index.js";

interface Timer {
  dueAt: number;
  readonly everyMs: number | null;
  readonly fn: () => void;
}

/** Time that passes when it is told to. */
export class VirtualClock implements DeliveryClock {
  #now = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const timer: Timer = { dueAt: this.#now + ms, everyMs: null, fn: resolve };
      this.#timers.add(timer);
      signal.addEventListener("abort", () => {
        this.#timers.delete(timer);
        resolve();
      });
      if (signal.aborted) resolve();
    });
  }

  every(ms: number, fn: () => void): () => void {
    const timer: Timer = { dueAt: this.#now + ms, everyMs: ms, fn };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Lets time pass; what is due happens in its order, and all that follows from it. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await settled();
      const [next] = [...this.#timers].filter(({ dueAt }) => dueAt <= end).toSorted((a, b) => a.dueAt - b.dueAt);
      if (next === undefined) break;
      this.#now = Math.max(this.#now, next.dueAt);
      if (next.everyMs === null) this.#timers.delete(next);
      else next.dueAt += next.everyMs;
      next.fn();
    }
    this.#now = end;
    await settled();
  }

  /** Time passes and this process does not notice: nothing that was due happens until it is looked at again. */
  freeze(ms: number): void {
    this.#now += ms;
    for (const timer of this.#timers) if (timer.everyMs !== null) timer.dueAt = Math.max(timer.dueAt, this.#now);
  }
}

/** Everything that does not wait for time has happened. */
export async function settled(): Promise<void> {
  for (let n = 0; n < 10; n += 1) await turnOfLoop();
}
