/** Thrown by {@link PartStack.open} once draining has begun; the lifecycle knows why. */
export class Draining extends Error {}

interface Part {
  readonly name: string;
  readonly close: () => Promise<void>;
}

/** The parts of a process: opened one after the other, closed in reverse. */
export class PartStack {
  readonly #parts: Part[] = [];
  readonly #opening = new Set<Promise<unknown>>();
  readonly #busy = new Set<string>();
  #drained: Promise<readonly PartFailure[]> | undefined;
  #failed: string | undefined;

  /** What is being opened or closed at this moment, for the line that says what hung. */
  get busy(): string {
    return [...this.#busy].join(", ") || "nothing";
  }

  /** The name of the part that failed to open last. */
  get failed(): string | undefined {
    return this.#failed;
  }

  async open<T>(name: string, open: () => T | Promise<T>, close?: (part: T) => unknown): Promise<T> {
    if (this.#drained !== undefined) throw new Draining();
    const opening = this.#during(`start of ${name}`, async () => {
      const part = await open();
      this.#parts.push({ name, close: async () => void (await close?.(part)) });
      return part;
    });
    this.#opening.add(opening);
    try {
      return await opening;
    } catch (error) {
      this.#failed = name;
      throw error;
    } finally {
      this.#opening.delete(opening);
    }
  }

  /** Closes everything; a part that fails to close does not keep the others open. */
  drain(): Promise<readonly PartFailure[]> {
    this.#drained ??= this.#closeAll();
    return this.#drained;
  }

  async #closeAll(): Promise<readonly PartFailure[]> {
    const failures: PartFailure[] = [];
    // What is half open can only be closed when it is open.
    await Promise.allSettled(this.#opening);
    for (let part = this.#parts.pop(); part !== undefined; part = this.#parts.pop()) {
      try {
        await this.#during(`stop of ${part.name}`, part.close);
      } catch (error) {
        failures.push({ part: part.name, error });
      }
    }
    return failures;
  }

  async #during<T>(step: string, work: () => Promise<T>): Promise<T> {
    this.#busy.add(step);
    try {
      return await work();
    } finally {
      this.#busy.delete(step);
    }
  }
}

export interface PartFailure {
  readonly part: string;
  readonly error: unknown;
}
