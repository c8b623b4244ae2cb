/** A signal that aborts with another one or when its time is up; to be closed, so that no timer outlives its work. */
export class TimeLimit {
  readonly #abort = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #parent: AbortSignal;
  readonly #onParent = (): void => this.#abort.abort();

  constructor(deadlineAt: number, parent: AbortSignal) {
    this.#parent = parent;
    this.#timer = setTimeout(() => this.#abort.abort(), Math.max(0, deadlineAt - Date.now()));
    if (parent.aborted) this.#abort.abort();
    else parent.addEventListener("abort", this.#onParent, { once: true });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Resolves when the signal aborts. */
  get passed(): Promise<void> {
    if (this.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#parent.removeEventListener("abort", this.#onParent);
  }
}
