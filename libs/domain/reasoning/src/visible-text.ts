import { DirectQuote } from "./direct-quote.js";
import { Gap } from "./gap.js";
import { LiteralContext } from "./literal-context.js";
import { isWhiteSpace } from "./white-space.js";

const SPACE = 0x20;

/** The text that stays: what was written of it, and what a tag at its end would be. */
export class VisibleText {
  #context = new LiteralContext();
  #before = this.#context;
  #gap = new Gap();
  #quote = new DirectQuote();
  #started = false;
  #out = "";

  /** The context at the end of the text; after `enter` that behind the gap. */
  get context(): LiteralContext {
    return this.#context;
  }

  /** The context as it was before `enter`. */
  get before(): LiteralContext {
    return this.#before;
  }

  /** The marks that would put a tag at the end of the text into direct quotation. */
  closers(): string {
    return this.#gap.empty ? this.#quote.closers() : "";
  }

  write(text: string): void {
    for (let i = 0; i < text.length; i++) this.put(text.charAt(i), text.charCodeAt(i));
  }

  put(char: string, code: number): void {
    if (isWhiteSpace(code)) {
      this.#gap.push(char, code);
      this.#out += this.#gap.overflow();
      return;
    }
    if (!this.#gap.empty) this.#closeGap();
    this.#context.char(code);
    this.#quote.push(code);
    this.#out += char;
    this.#started = true;
  }

  /** A tag may begin here. Until it is known what it is, `leave` leads back. */
  enter(): ReturnType<LiteralContext["place"]> {
    this.#before = this.#context.clone();
    this.#context.space(this.#gap.resolve(this.#started).run);
    return this.#context.place();
  }

  leave(): void {
    this.#context = this.#before;
  }

  /** Goes on from a context that was the one before `enter`. */
  returnTo(before: LiteralContext): void {
    this.#before = before;
    this.#context = before;
  }

  /** A block was removed here. */
  cut(): void {
    this.#gap.cut(this.#started);
  }

  /** What is read next is new text, see `LiteralContext.settle`. */
  unsettle(): void {
    this.#context.unsettle();
    this.#before.unsettle();
  }

  end(): void {
    this.#out += this.#gap.atEnd();
    this.#gap.clear();
  }

  /** Hands out what was written since the last time. */
  take(): string {
    const text = this.#out;
    this.#out = "";
    return text;
  }

  #closeGap(): void {
    const { text, run } = this.#gap.resolve(this.#started);
    this.#context.space(run);
    if (run.any) this.#quote.push(SPACE);
    this.#out += text;
    this.#gap.clear();
  }
}
