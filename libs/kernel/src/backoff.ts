/** Pauses between writes that fail: they double, and begin anew after a success. */
const FIRST_MS = 50;
const LONGEST_MS = 2_000;

export class Backoff {
  /** Failures in a row. */
  failures = 0;

  /** Counts a failure; milliseconds to wait before the next try. */
  fail(): number {
    this.failures += 1;
    return Math.min(FIRST_MS * 2 ** (this.failures - 1), LONGEST_MS);
  }

  reset(): void {
    this.failures = 0;
  }
}
