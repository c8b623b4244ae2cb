const FIRST_MS = 200;
const LONGEST_MS = 5_000;
/** A process that ran this long was healthy: its next failure is a new story. */
const HEALTHY_AFTER_MS = 30_000;

/** How long to wait before a process is started again: 0.2 s, doubling to 5 s, from the beginning after 30 s of health. */
export class RestartDelay {
  #nextMs = FIRST_MS;

  /** @param ranMs how long the process that just ended had been ready */
  after(ranMs: number): number {
    if (ranMs >= HEALTHY_AFTER_MS) this.#nextMs = FIRST_MS;
    const delayMs = this.#nextMs;
    this.#nextMs = Math.min(delayMs * 2, LONGEST_MS);
    return delayMs;
  }
}
