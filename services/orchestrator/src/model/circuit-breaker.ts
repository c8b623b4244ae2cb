import type { BreakerRules } from "./router-rules.js";

export type BreakerState = "closed" | "half-open" | "open";

/** A right to make one call; what comes of it is reported with it. */
export interface Pass {
  readonly era: number;
}

export interface BreakerOptions<F> {
  readonly rules: BreakerRules;
  /** Monotonic, in milliseconds. */
  readonly now: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  readonly onChange: (state: BreakerState, last: F | undefined) => void;
}

/**
 * Keeps calls away from one model that does not work, for this process.
 *
 * B1 Failures in a row open it; any success in between starts the count anew.
 * B2 Open, it lets nobody through until its cool-down is over; then one call goes as a probe (half-open).
 * B3 The probe alone decides: closed again, or open for twice as long. A call that began earlier says nothing.
 * B4 The first sign of life of a probe closes it, so that nobody waits for the end of a long answer; a failure after
 *    that opens it again at once.
 */
export class CircuitBreaker<F> {
  readonly #options: BreakerOptions<F>;
  #state: BreakerState = "closed";
  #failures = 0;
  #round = 0;
  #until = 0;
  #era = 0;
  #probing = false;
  #last: F | undefined;

  constructor(options: BreakerOptions<F>) {
    this.#options = options;
  }

  get state(): BreakerState {
    return this.#state;
  }

  /** The failure that opened it. */
  get last(): F | undefined {
    return this.#last;
  }

  /** Until a call may go; 0: now. `probing`: another call is being tried, look again when it has ended. */
  get hold(): { readonly leftMs: number; readonly probing: boolean } {
    if (this.#state === "closed") return { leftMs: 0, probing: false };
    if (this.#state === "half-open") return { leftMs: 0, probing: this.#probing };
    return { leftMs: Math.max(0, this.#until - this.#options.now()), probing: false };
  }

  /** To be asked for right before the call, while `hold` allows it. */
  enter(): Pass {
    if (this.#state === "open") {
      this.#era += 1;
      this.#move("half-open");
    }
    if (this.#state === "half-open") this.#probing = true;
    return { era: this.#era };
  }

  /** Something of the answer came (B4). */
  alive(pass: Pass): void {
    if (pass.era !== this.#era || this.#state !== "half-open") return;
    this.#failures = this.#options.rules.failures - 1;
    this.#close();
  }

  succeeded(pass: Pass): void {
    if (pass.era !== this.#era) return;
    this.#failures = 0;
    this.#round = 0;
    if (this.#state === "half-open") this.#close();
  }

  failed(pass: Pass, failure: F): void {
    if (pass.era !== this.#era || this.#state === "open") return;
    this.#failures += 1;
    this.#last = failure;
    if (this.#state === "half-open" || this.#failures >= this.#options.rules.failures) this.#open();
  }

  /** Nothing was learnt: the call was given up by its caller. */
  left(pass: Pass): void {
    if (pass.era === this.#era) this.#probing = false;
  }

  #open(): void {
    const { firstCoolDownMs, longestCoolDownMs } = this.#options.rules;
    const fullMs = Math.min(longestCoolDownMs, firstCoolDownMs * 2 ** this.#round);
    this.#round += 1;
    this.#era += 1;
    this.#probing = false;
    // Up to a fifth shorter: processes that lost the same provider at once do not probe it at once.
    this.#until = this.#options.now() + fullMs * (1 - this.#options.random() / 5);
    this.#move("open");
  }

  #close(): void {
    this.#probing = false;
    this.#move("closed");
  }

  #move(state: BreakerState): void {
    this.#state = state;
    this.#options.onChange(state, this.#last);
  }
}
