import { DirectQuote } from "./direct-quote.js";
import { HeldTag } from "./held-tag.js";
import { ReasoningBlock } from "./reasoning-block.js";
import { MAX_TAG, TagScanner } from "./tag-scanner.js";
import { startsTag } from "./tag-token.js";
import type { FoundTag, Tag } from "./tag.js";
import { VisibleText } from "./visible-text.js";

/** What may be shown now. */
export interface FilteredText {
  /** Visible text, to be added to what was shown since the last reset. */
  readonly text: string;
  /** All text shown so far was reasoning: throw it away before `text` is shown. */
  readonly reset: boolean;
}

/**
 * Takes reasoning out of what a model writes, while it is written. One filter per message; live deltas,
 * intermediate messages and final text all go through it, so that they cannot disagree.
 *
 * R1 Chunks do not matter: the texts after the last reset, put together, are the same for every split of
 *    the input, character for character.
 * R2 Text is shown once nothing that may follow can hide it. The one exception is an orphan end, which
 *    nobody can foresee: if text had been shown, a reset follows.
 * R3 Hidden are: a block, up to the end that belongs to it or up to the end of the text; everything before
 *    an end as long as no opening was seen; any other stray end, self-closing tags and void tokens, themselves.
 * R4 A tag in a code fence, in a code span or directly in quotation marks is text. Inside of reasoning only
 *    direct quotation counts: reasoning that was cut off within a fence must not swallow the answer.
 * R5 Filtering twice is filtering once: contexts are those of the visible text, and a removed block leaves
 *    no tag behind that its neighbours make up together.
 *    Not claimed where a removal joins two runs of backticks, which then make another code span.
 * R6 A block takes the white space around it along so far that one gap is left, none at the ends of the text.
 *    Everything else stays as it is.
 * R7 Linear time, bounded memory: MAX_TAG, MAX_HELD and MAX_GAP say how much is kept back at most.
 */
export class ReasoningFilter {
  #visible = new VisibleText();
  #candidate: TagScanner | undefined;
  /** Candidates that a tag interrupts: they go on where it was removed (R5). */
  #suspended: TagScanner[] = [];
  #suspendedLength = 0;
  #quoted: { readonly found: FoundTag; readonly closers: string } | undefined;
  #held: HeldTag | undefined;
  /** How many held texts are being read again, one within the other. */
  #rereading = 0;
  #block: ReasoningBlock | undefined;
  #blockQuote = new DirectQuote();
  #openingSeen = false;
  #hadReasoning = false;
  #shown = false;
  #reset = false;

  /** Whether any reasoning was found so far. */
  get hadReasoning(): boolean {
    return this.#hadReasoning;
  }

  /** Takes the next piece of what the model writes. */
  push(chunk: string): FilteredText {
    this.#feed(chunk);
    return this.#take();
  }

  /** The message is complete: what was kept back is decided. Nothing may be pushed afterwards. */
  end(): FilteredText {
    while (this.#decideOne());
    this.#visible.end();
    return this.#take();
  }

  #take(): FilteredText {
    const text = this.#visible.take();
    const reset = this.#reset;
    this.#shown ||= text !== "";
    this.#reset = false;
    return { text, reset };
  }

  #feed(text: string): void {
    for (let i = 0; i < text.length; i++) this.#step(text.charAt(i), text.charCodeAt(i));
  }

  #step(char: string, code: number): void {
    if (this.#held !== undefined) this.#stepHeld(char, code);
    else if (this.#quoted !== undefined) this.#stepQuoted(char, code);
    else if (this.#candidate !== undefined) this.#stepCandidate(this.#candidate, char, code);
    else if (startsTag(code) && this.#mayBegin()) this.#candidate = new TagScanner(char);
    else this.#put(char, code);
  }

  #mayBegin(): boolean {
    if (this.#block !== undefined || this.#visible.enter() !== "fence") return true;
    this.#visible.leave();
    return false;
  }

  #put(char: string, code: number): void {
    if (this.#block === undefined) this.#visible.put(char, code);
    else this.#blockQuote.push(code);
  }

  #stepHeld(char: string, code: number): void {
    const held = this.#held;
    const verdict = held?.feed(char, code) ?? "open";
    if (held === undefined || verdict === "open") return;
    this.#release(held, verdict);
    this.#step(char, code);
  }

  #stepQuoted(char: string, code: number): void {
    const quoted = this.#quoted;
    this.#quoted = undefined;
    if (quoted !== undefined) {
      if (quoted.closers.includes(char)) this.#putTag(quoted.found.text);
      else this.#settle(quoted.found);
      this.#unsettle();
    }
    this.#step(char, code);
  }

  #stepCandidate(candidate: TagScanner, char: string, code: number): void {
    const answer = candidate.feed(char, code);
    if (answer === "more") return;
    if (answer === "tag") {
      this.#candidate = undefined;
      if (candidate.tag !== undefined) this.#complete({ tag: candidate.tag, text: candidate.text });
    } else if (this.#block === undefined && startsTag(code) && candidate.text.length < MAX_TAG) {
      this.#suspend(candidate, char);
    } else {
      this.#fail();
      this.#step(char, code);
    }
  }

  #suspend(candidate: TagScanner, char: string): void {
    this.#suspended.push(candidate);
    this.#suspendedLength += candidate.text.length;
    this.#candidate = undefined;
    if (this.#suspendedLength > MAX_TAG) {
      this.#fail();
      this.#feed(char);
    } else {
      this.#candidate = new TagScanner(char);
    }
  }

  #resume(): void {
    this.#candidate = this.#suspended.pop();
    this.#suspendedLength -= this.#candidate?.text.length ?? 0;
  }

  /** The candidate and those around it are no tags: their first characters are text, the rest is read again. */
  #fail(): void {
    const texts = this.#block === undefined ? this.#suspended.map((scanner) => scanner.text) : [];
    if (this.#candidate !== undefined) texts.push(this.#candidate.text);
    this.#candidate = undefined;
    if (this.#block === undefined) {
      this.#suspended = [];
      this.#suspendedLength = 0;
      this.#visible.leave();
    }
    for (const text of texts) {
      this.#putFirst(text.charAt(0), text.charCodeAt(0));
      this.#feed(text.slice(1));
    }
  }

  /** A character that begins no tag. */
  #putFirst(char: string, code: number): void {
    while (this.#candidate !== undefined) this.#fail();
    if (this.#held !== undefined) this.#stepHeld(char, code);
    else if (this.#quoted !== undefined) this.#stepQuoted(char, code);
    else this.#put(char, code);
  }

  #complete(found: FoundTag): void {
    const closers = this.#closers();
    if (closers === "") this.#settle(found);
    else this.#quoted = { found, closers };
  }

  #closers(): string {
    if (this.#block !== undefined) return this.#blockQuote.closers();
    const outer = this.#suspended.at(-1);
    if (outer === undefined) return this.#visible.closers();
    const quote = new DirectQuote();
    quote.push(outer.text.charCodeAt(outer.text.length - 2));
    quote.push(outer.text.charCodeAt(outer.text.length - 1));
    return quote.closers();
  }

  /** The tag is in quotation marks. */
  #putTag(text: string): void {
    if (this.#block === undefined) this.#fail();
    for (let i = 0; i < text.length; i++) this.#put(text.charAt(i), text.charCodeAt(i));
  }

  /** The tag is not in quotation marks. */
  #settle({ tag, text }: FoundTag): void {
    const visible = this.#visible;
    if (this.#block !== undefined || visible.context.place() === "open") {
      this.#act(tag);
      return;
    }
    const around = this.#suspended.map((scanner) => scanner.text).join("");
    this.#suspended = [];
    this.#suspendedLength = 0;
    this.#held = new HeldTag(around + text, visible.before, visible.context);
  }

  #release(held: HeldTag, verdict: "literal" | "tag"): void {
    this.#held = undefined;
    this.#visible.returnTo(held.before);
    if (verdict === "literal") {
      this.#visible.write(held.text);
    } else {
      // Read again, with the question settled that could not be answered the first time.
      held.before.settle(held.runs, held.startsInInfo);
      this.#rereading++;
      this.#feed(held.text);
      this.#rereading--;
    }
    this.#unsettle();
  }

  /** What is settled holds for the text that is read again, and for a tag at its end that waits for its quotation. */
  #unsettle(): void {
    if (this.#rereading === 0 && this.#quoted === undefined) this.#visible.unsettle();
  }

  /** The tag is one. */
  #act(tag: Tag): void {
    if (this.#block !== undefined) {
      if (this.#block.take(tag)) this.#closeBlock();
      return;
    }
    if (tag.kind !== "void") this.#hadReasoning = true;
    if (tag.kind === "end" && !this.#openingSeen) {
      this.#startOver();
      return;
    }
    if (tag.kind === "open" || tag.kind === "self-closing") this.#openingSeen = true;
    if (this.#suspended.length === 0) {
      this.#visible.leave();
      this.#visible.cut();
    }
    if (tag.kind === "open") {
      this.#block = new ReasoningBlock(tag);
      this.#blockQuote = new DirectQuote();
    } else {
      this.#resume();
    }
  }

  #closeBlock(): void {
    this.#block = undefined;
    this.#resume();
  }

  #startOver(): void {
    this.#visible = new VisibleText();
    this.#visible.cut();
    this.#suspended = [];
    this.#suspendedLength = 0;
    this.#reset ||= this.#shown;
    this.#shown = false;
  }

  /** Decides one thing that waits for more text; false if there is none. */
  #decideOne(): boolean {
    const quoted = this.#quoted;
    const held = this.#held;
    this.#quoted = undefined;
    if (quoted !== undefined) {
      this.#settle(quoted.found);
      this.#unsettle();
    } else if (held !== undefined) this.#release(held, held.end());
    else if (this.#candidate !== undefined) this.#fail();
    else if (this.#block !== undefined) this.#closeBlock();
    else return false;
    return true;
  }
}
