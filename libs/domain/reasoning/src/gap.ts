import { WhiteSpaceRun } from "./white-space.js";

/** White space kept back at most, in UTF-16 units; more than this is shown although a block may follow. */
export const MAX_GAP = 1024;

interface Half {
  text: string;
  readonly run: WhiteSpaceRun;
}

/**
 * The white space between the last visible character and the next one. A removed block cuts it in two;
 * of the two halves one survives, the one that ends more lines, so that a block leaves neither a hole nor
 * glued words behind.
 */
export class Gap {
  #before = emptyHalf();
  #after = emptyHalf();
  #cut = false;

  /** Nothing stands between the visible text and what comes now. */
  get empty(): boolean {
    return !this.#cut && !this.#before.run.any;
  }

  push(char: string, code: number): void {
    const half = this.#cut ? this.#after : this.#before;
    half.run.push(code);
    if (half.text.length < MAX_GAP) half.text += char;
  }

  /** Takes out text that can wait no longer; "" while the gap is within its bound. */
  overflow(): string {
    if (this.#cut || this.#before.text.length < MAX_GAP) return "";
    const text = this.#before.text;
    this.#before.text = "";
    return text;
  }

  /** A block was removed here. `started`: something visible stands before the gap. */
  cut(started: boolean): void {
    this.#before = started ? this.resolve(started) : emptyHalf();
    this.#after = emptyHalf();
    this.#cut = true;
  }

  /** What is left of the gap before a visible character; at the start of the text a block takes all of it along. */
  resolve(started: boolean): Half {
    if (!this.#cut) return this.#before;
    if (!started) return emptyHalf();
    if (!this.#before.run.any) return this.#after;
    return this.#after.run.newlines > this.#before.run.newlines ? this.#after : this.#before;
  }

  /** What is left of it at the end of the text: nothing, if it belonged to a removed block. */
  atEnd(): string {
    return this.#cut ? "" : this.#before.text;
  }

  clear(): void {
    if (this.empty) return;
    this.#before = emptyHalf();
    this.#after = emptyHalf();
    this.#cut = false;
  }
}

function emptyHalf(): Half {
  return { text: "", run: new WhiteSpaceRun() };
}
