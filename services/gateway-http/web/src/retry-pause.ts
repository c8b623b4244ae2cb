const FIRST_MS = 400;
const LONGEST_MS = 8_000;

/** Waits before the next try, longer from try to try, but no longer than until the browser is online again. */
export class RetryPause {
  #tries = 0;

  /** @param atLeastMs what the server asked for */
  async wait(signal: AbortSignal, atLeastMs: number | null = null): Promise<void> {
    const grown = Math.min(FIRST_MS * 2 ** this.#tries, LONGEST_MS);
    this.#tries += 1;
    // Spread out, so that a gateway that comes back is not met by all its pages at once.
    const pauseMs = Math.max(grown * (0.5 + Math.random() / 2), atLeastMs ?? 0);
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        removeEventListener("online", done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, pauseMs);
      addEventListener("online", done);
      signal.addEventListener("abort", done);
    });
  }

  succeeded(): void {
    this.#tries = 0;
  }
}
