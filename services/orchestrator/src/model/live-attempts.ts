/** Turns whose number is remembered; one that falls out begins again, and who listens ignores its previews. */
const MAX_TURNS = 10_000;

/** Numbers that each recovery has to itself. */
const PER_RECOVERY = 1_000;

/**
 * The numbers of the tries that people see previews of: receivers drop what has a lower one than they have seen. A
 * turn's number never falls, also not with its next model call. The state counts recoveries; tries within a process
 * come on top, in a range that ends below the next recovery's, because the next owner does not know how many there were.
 */
export class LiveAttempts {
  readonly #tries = new Map<string, number>();

  /** @param stored the number in the state, from 1. */
  current(turn: string, epoch: number, stored: number): number {
    return (stored - 1) * PER_RECOVERY + (this.#tries.get(`${turn}#${epoch}`) ?? 1);
  }

  next(turn: string, epoch: number, stored: number): number {
    const name = `${turn}#${epoch}`;
    this.#tries.set(name, Math.min((this.#tries.get(name) ?? 1) + 1, PER_RECOVERY));
    const oldest = this.#tries.keys().next();
    if (this.#tries.size > MAX_TURNS && !oldest.done) this.#tries.delete(oldest.value);
    return this.current(turn, epoch, stored);
  }
}
