import { CodeSpans } from "./code-spans.js";
import { LineStart } from "./line-start.js";
import { isWhiteSpace, WhiteSpaceRun } from "./white-space.js";

const BACKTICK = 0x60;
const TILDE = 0x7e;
const BACKSLASH = 0x5c;
const MIN_FENCE = 3;

/**
 * Which part of Markdown a text is in, for one question: is a tag here literal? It reads visible text only,
 * so that the answer is the same when the visible text is read again.
 */
export class LiteralContext {
  #line = new LineStart();
  #spans = new CodeSpans();
  readonly #gap = new WhiteSpaceRun();
  #fence = { char: 0, length: 0, column: 0 };
  #run = { char: 0, length: 0, column: 0, leads: false };
  /** Length of the run that opens a fence if its line holds no other backtick; 0 if there is none. */
  #info = 0;
  /** The line of that run is known to be no fence, see `settle`. */
  #noFence = false;
  #escaped = false;
  #paragraph = 0;

  /** Counts the paragraphs: code spans do not reach from one into the next. */
  get paragraph(): number {
    return this.#paragraph;
  }

  get inFence(): boolean {
    return this.#fence.length > 0;
  }

  get inInfo(): boolean {
    return this.#info > 0;
  }

  get spans(): CodeSpans {
    return this.#spans;
  }

  char(code: number): void {
    if (isWhiteSpace(code)) {
      this.#gap.push(code);
      this.#escaped = false;
      return;
    }
    this.#applyGap();
    if (code === this.#run.char) {
      this.#run.length++;
      return;
    }
    this.#finishRun(false);
    if (code === BACKTICK || code === TILDE) this.#startRun(code);
    else this.#line.char(code, !this.inFence);
    this.#escaped = code === BACKSLASH && !this.#escaped;
  }

  /** White space as it is left after the removal of a block. */
  space(run: Readonly<WhiteSpaceRun>): void {
    if (run.any) this.#gap.copy(run);
  }

  /** What a tag at this place would be: "undecided" until a span closes, "info" until the line ends. */
  place(): "fence" | "info" | "undecided" | "open" {
    this.#applyGap();
    this.#finishRun(false);
    if (this.inFence) return "fence";
    if (this.inInfo && !this.#noFence) return "info";
    this.#endInfo();
    return this.#spans.undecided ? "undecided" : "open";
  }

  /** The text that is read next has no end for the first `runs` open runs; `noFence`: nor is this line a fence. */
  settle(runs: number, noFence: boolean): void {
    this.#spans.settle(runs);
    this.#noFence = noFence;
  }

  /** What is read next is new text. */
  unsettle(): void {
    this.#spans.settle(0);
    this.#noFence = false;
  }

  /** The text ends: the last run and the last line are complete. */
  end(): void {
    this.#endLine();
  }

  clone(): LiteralContext {
    const copy = new LiteralContext();
    copy.#line = this.#line.clone();
    copy.#spans = this.#spans.clone();
    copy.#gap.copy(this.#gap);
    copy.#fence = { ...this.#fence };
    copy.#run = { ...this.#run };
    copy.#info = this.#info;
    copy.#noFence = this.#noFence;
    copy.#escaped = this.#escaped;
    copy.#paragraph = this.#paragraph;
    return copy;
  }

  #startRun(code: number): void {
    const escaped = this.#escaped && this.#spans.open === 0;
    if (code === BACKTICK) this.#endInfo();
    const leads = this.inFence ? this.#line.leads : this.#line.fenceable;
    this.#run = { char: code, length: escaped ? 0 : 1, column: this.#line.column, leads };
    this.#line.char(code, !this.inFence);
  }

  #finishRun(endsLine: boolean): void {
    const { char, length, column, leads } = this.#run;
    if (char === 0) return;
    this.#run.char = 0;
    const fence = this.#fence;
    if (fence.length > 0) {
      const closes = leads && endsLine && char === fence.char && length >= fence.length;
      if (closes && column <= fence.column + MIN_FENCE) this.#setFence(0, 0, 0);
    } else if (leads && length >= MIN_FENCE) {
      if (char === TILDE || endsLine) this.#setFence(char, length, column);
      else this.#info = length;
      this.#run.column = column;
    } else if (char === BACKTICK && length > 0) {
      this.#spans.run(length);
    }
  }

  /** The line is no fence (there is another backtick in it): its first run is one like any other. */
  #endInfo(): void {
    if (this.#info === 0) return;
    this.#spans.run(this.#info);
    this.#info = 0;
  }

  #setFence(char: number, length: number, column: number): void {
    this.#fence = { char, length, column };
    this.#endParagraph();
  }

  #endParagraph(): void {
    this.#paragraph++;
    this.#spans.clear();
  }

  #endLine(): void {
    this.#finishRun(true);
    if (this.#info === 0) return;
    this.#setFence(BACKTICK, this.#info, this.#run.column);
    this.#info = 0;
  }

  #applyGap(): void {
    const { any, newlines, columns } = this.#gap;
    if (!any) return;
    this.#gap.clear();
    if (newlines === 0) {
      this.#finishRun(false);
      if (this.#line.space(columns)) this.#endParagraph();
      return;
    }
    this.#endLine();
    this.#line.newline(columns);
    if (newlines > 1 && !this.inFence) this.#endParagraph();
  }
}
