import type { Clock } from "@troupe/kernel";

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** Time that passes only when it is told to. */
export class VirtualClock implements Clock {
  #now = Date.UTC(2026, 0, 1);
  #timers: Timer[] = [];

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, ms), callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((x) => x !== timer);
    };
  }

  /** When the next timer is due; Infinity when there is none. */
  get nextAt(): number {
    return Math.min(Infinity, ...this.#timers.map((timer) => timer.at));
  }

  /** Moves on to that moment and calls what is due. */
  moveTo(at: number): void {
    this.#now = Math.max(this.#now, at);
    const due = this.#timers.filter((timer) => timer.at <= this.#now).sort((a, b) => a.at - b.at);
    this.#timers = this.#timers.filter((timer) => timer.at > this.#now);
    for (const timer of due) timer.callback();
  }
}
