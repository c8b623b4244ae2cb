// The one source of chance: everything a run decides is drawn from its seed, so that the seed brings the schedule back.

/** Integers of 32 bits, `mulberry32`: small, fast, and the same everywhere. */
export class Random {
  #state;

  constructor(...parts) {
    // Parts are mixed one after the other, so that neighbouring seeds share nothing.
    this.#state = parts.reduce((state, part) => Math.imul(state ^ part, 0x9e3779b1) ^ (state >>> 15), 0x2545f491) >>> 0;
  }

  /** From 0 to below 1. */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number, both ends included. */
  between(low, high) {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(share) {
    return this.next() < share;
  }

  /** One of the choices, by weight: `{ name: weight }`. */
  weighted(choices) {
    const all = Object.entries(choices);
    let left = this.next() * all.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of all) {
      left -= weight;
      if (left < 0) return name;
    }
    return all[0][0];
  }
}
