/** Thrown by {@link PartStack.open} once draining has begun; the lifecycle knows why. */
export class Draining extends Error {}

/** What waits for a server that is away may wait for longer than a process that was asked to end. */
const HALF_OPEN_MS = 2_000;

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

  get isBusy(): boolean {
    return this.#busy.size > 0;
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
    await this.#opened();
    for (let part = this.#parts.pop(); part !== undefined; part = this.#parts.pop()) {
      try {
        await this.#during(`stop of ${part.name}`, part.close);
      } catch (error) {
        failures.push({ part: part.name, error });
      }
    }
    return failures;
  }

  /** What is half open can only be closed when it is open; it goes with the process when that takes long. */
  async #opened(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, HALF_OPEN_MS);
    });
    await Promise.race([Promise.allSettled(this.#opening), patience]);
    clearTimeout(timer);
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
