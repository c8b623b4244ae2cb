/** Turns whose number is remembered; one that falls out begins again, and who listens ignores its previews. */
const MAX_TURNS = 10_000;

/**
 * The numbers of the tries that people see previews of. The state counts recoveries only; tries within a process come
 * on top, and a turn's number never falls, also not with its next model call: receivers drop what has a lower one.
 */
export class LiveAttempts {
  readonly #numbers = new Map<string, number>();

  /** @param stored the number in the state. */
  current(turn: string, epoch: number, stored: number): number {
    return Math.max(stored, this.#numbers.get(`${turn}#${epoch}`) ?? 0);
  }

  next(turn: string, epoch: number, stored: number): number {
    const number = this.current(turn, epoch, stored) + 1;
    this.#numbers.set(`${turn}#${epoch}`, number);
    const oldest = this.#numbers.keys().next();
    if (this.#numbers.size > MAX_TURNS && !oldest.done) this.#numbers.delete(oldest.value);
    return number;
  }
}
