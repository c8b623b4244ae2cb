import type { JobDelivery } from "@troupe/contracts";
import type { Clock } from "@troupe/kernel";
import type { JobRules } from "./job-rules.js";
import { NoEnd, withLimit } from "./work-limit.js";

/** Why work on a job ends before it is done. */
export type Interruption = "lost" | "drain";

export class Interrupted extends Error {
  override readonly name = "Interrupted";
  readonly why: Interruption;

  constructor(why: Interruption) {
    super(why);
    this.why = why;
  }
}

/**
 * J5 Keeps a delivered job here while it is worked on, and knows when it is here no longer.
 *
 * Only a confirmed `working` counts, from the moment it was asked for, on a clock that never jumps. So a process that
 * was stopped finds out as soon as it goes on, and one without a connection in time.
 */
export class JobHold {
  readonly #delivery: JobDelivery;
  readonly #clock: Clock;
  readonly #rules: JobRules;
  readonly #abort = new AbortController();
  #heldUntil = -Infinity;
  #interruption: Interruption | undefined;
  #reject: ((cause: Interrupted) => void) | undefined;
  #cancelTick: () => void = () => undefined;
  #isOver = false;

  constructor(delivery: JobDelivery, clock: Clock, rules: JobRules) {
    this.#delivery = delivery;
    this.#clock = clock;
    this.#rules = rules;
  }

  /** Aborts when the work is interrupted. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get isLost(): boolean {
    if (this.#clock.monotonic() >= this.#heldUntil) this.interrupt("lost");
    return this.#interruption === "lost";
  }

  /** Nobody knows how long the delivery lay about before it was read: it counts from its first confirmation on. */
  async begin(): Promise<void> {
    await this.#confirm();
    this.#tick();
  }

  end(): void {
    this.#isOver = true;
    this.#cancelTick();
  }

  /** The first one stands. */
  interrupt(why: Interruption): void {
    if (this.#interruption !== undefined || this.#isOver) return;
    this.#interruption = why;
    this.#abort.abort();
    this.#reject?.(new Interrupted(why));
  }

  /**
   * What comes of the work, unless it is interrupted first or has no end within the limit (J9): then it is told to stop,
   * and nobody looks at what comes of it.
   */
  async race<T>(work: () => Promise<T>, limitMs: number): Promise<T> {
    if (this.isLost || this.#interruption !== undefined) throw new Interrupted(this.#interruption ?? "lost");
    const interrupted = new Promise<never>((_resolve, reject) => (this.#reject = reject));
    try {
      return await withLimit(this.#clock, limitMs, () => Promise.race([started(work), interrupted]));
    } catch (cause) {
      if (cause instanceof NoEnd) this.#abort.abort();
      throw cause;
    }
  }

  #tick(): void {
    if (this.#isOver || this.isLost) return;
    void this.#confirm().catch(() => undefined);
    const leftMs = this.#heldUntil - this.#clock.monotonic();
    this.#cancelTick = this.#clock.after(Math.min(this.#rules.workingMs, leftMs), () => this.#tick());
  }

  async #confirm(): Promise<void> {
    const askedAt = this.#clock.monotonic();
    await this.#delivery.working();
    this.#heldUntil = Math.max(this.#heldUntil, askedAt + this.#rules.ackWaitMs);
  }
}

/** A throw of the caller's becomes a rejection. */
async function started<T>(work: () => Promise<T>): Promise<T> {
  return work();
}
