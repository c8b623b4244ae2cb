/** Lengths of backtick runs remembered at most per paragraph; further ones are text. */
const MAX_OPEN_RUNS = 16;

/**
 * The runs of backticks in a paragraph that may turn out to have opened a code span. A run is closed by the
 * next one of its length; if none comes before the paragraph ends it was text, and the run after it is
 * looked at. So of the runs kept here, in order and each of another length, any may still be the opener:
 * text behind them is code if a run of any of these lengths follows.
 */
export class CodeSpans {
  #open: number[] = [];
  #settled = 0;
  #watched = 0;
  #closed = false;

  /** Text here may be code: some run has not been told to be text. */
  get undecided(): boolean {
    return this.#open.length > this.#settled;
  }

  /** How many runs may still be openers. */
  get open(): number {
    return this.#open.length;
  }

  /** A run that was open at `watch` has found its end. */
  get closed(): boolean {
    return this.#closed;
  }

  run(length: number): void {
    const at = this.#open.indexOf(length);
    if (at < 0) {
      if (this.#open.length < MAX_OPEN_RUNS) this.#open.push(length);
      return;
    }
    this.#open.length = at;
    this.#settled = Math.min(this.#settled, at);
    if (at < this.#watched) this.#closed = true;
  }

  /** From now on `closed` tells of the runs that are open now. */
  watch(): void {
    this.#watched = this.#open.length;
    this.#closed = false;
  }

  /** The first `runs` open runs are known to have no end in the text that is read next. */
  settle(runs: number): void {
    this.#settled = runs;
  }

  clear(): void {
    this.#open = [];
    this.#settled = 0;
    this.#watched = 0;
  }

  clone(): CodeSpans {
    const copy = new CodeSpans();
    if (this.#open.length > 0) copy.#open = this.#open.slice();
    copy.#settled = this.#settled;
    return copy;
  }
}
