import type { LiteralContext } from "./literal-context.js";

/** A tag is kept back at most for so many UTF-16 units while it is open whether it stands in a code span. */
export const MAX_HELD = 1024;

/**
 * A tag behind an unclosed run of backticks, with all text since: literal if the span closes, a tag if the
 * paragraph ends first. A tag that cannot be decided within the bound is a tag: better to hide text that
 * belongs to the answer than to show reasoning.
 */
export class HeldTag {
  /** The context before the tag and before the white space in front of it. */
  readonly before: LiteralContext;
  /** The tag stands in a line that may open a fence. */
  readonly startsInInfo: boolean;
  readonly #context: LiteralContext;
  readonly #paragraph: number;
  #runs: number;
  #inInfo: boolean;
  #text: string;

  /** `text` ends with the tag; `context` is the one in front of it, and is fed from here on. */
  constructor(text: string, before: LiteralContext, context: LiteralContext) {
    this.before = before;
    this.#context = context;
    this.#paragraph = context.paragraph;
    this.startsInInfo = context.inInfo;
    this.#inInfo = context.inInfo;
    this.#runs = context.spans.open;
    context.spans.watch();
    for (let i = 0; i < text.length; i++) context.char(text.charCodeAt(i));
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }

  /** How many runs of backticks were open at the tag. */
  get runs(): number {
    return this.#runs;
  }

  /** Takes the next character, unless it decides what the text before it is. */
  feed(char: string, code: number): "literal" | "tag" | "open" {
    this.#context.char(code);
    const verdict = this.#verdict();
    if (verdict !== "open") return verdict;
    if (this.#text.length >= MAX_HELD) return "tag";
    this.#text += char;
    return "open";
  }

  end(): "literal" | "tag" {
    this.#context.end();
    return this.#verdict() === "literal" ? "literal" : "tag";
  }

  #verdict(): "literal" | "tag" | "open" {
    const { spans, paragraph, inFence, inInfo } = this.#context;
    if (this.#inInfo) {
      if (inFence) return "literal";
      if (inInfo) return "open";
      // The line was no fence: the tag is in a code span or nowhere.
      this.#inInfo = false;
      spans.watch();
      this.#runs = spans.open;
      return spans.open === 0 ? "tag" : "open";
    }
    if (spans.closed) return "literal";
    return paragraph === this.#paragraph ? "open" : "tag";
  }
}
