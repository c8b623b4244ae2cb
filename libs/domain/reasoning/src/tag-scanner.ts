import { isLetter, isNameCharacter, reasoningFamily } from "./tag-name.js";
import { nextToken, startsTag, type TokenNode, tokenNode } from "./tag-token.js";
import type { Tag } from "./tag.js";
import { isWhiteSpace } from "./white-space.js";

/** A tag's length at most, in UTF-16 units: what is still open here is text, however it goes on. */
export const MAX_TAG = 256;
/** A name's length at most; no name of a reasoning tag is longer. */
const MAX_NAME = 64;

const GREATER = 0x3e;
const SLASH = 0x2f;
const EQUALS = 0x3d;
const DOT = 0x2e;
const BAR = 0x7c;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;
const BACKTICK = 0x60;

type State = "token" | "start" | "slash" | "name" | "space" | "attribute" | "equals" | "value" | "quoted" | "closing";

/**
 * Reads one possible tag, character by character, from its first one (`<`, `[` or ◁) on.
 *
 * The grammar is that of HTML, with two liberties that cost nothing: the first `>` ends the tag even in a
 * quoted value (the rest of an opening tag is hidden as reasoning anyway), and a character that may begin a
 * tag ends the attempt, so that what was kept back never has to be read more than twice.
 */
export class TagScanner {
  /** All that was read of it. */
  text: string;
  /** The tag, once `feed` answered "tag". */
  tag: Tag | undefined;
  #state: State;
  #token: TokenNode | undefined;
  #nameAt = 0;
  #family = "";
  #end = false;
  #quote = 0;

  constructor(first: string) {
    this.text = first;
    this.#state = first === "<" ? "start" : "token";
    this.#token = first === "<" ? undefined : tokenNode(first);
  }

  /** "more": it may still become a tag; "tag": it is one; "no": it is text, and this character not part of it. */
  feed(char: string, code: number): "more" | "tag" | "no" {
    const next = this.text.length >= MAX_TAG ? undefined : this.#next(code);
    if (next === undefined) return "no";
    this.text += char;
    if (next !== "done") {
      this.#state = next;
      return "more";
    }
    if (this.tag === undefined) {
      const selfClosing = this.#state === "closing" || (this.#state === "value" && this.text.endsWith("/>"));
      const kind = this.#end ? "end" : selfClosing ? "self-closing" : "open";
      this.tag = { kind, family: this.#family, nests: true };
    }
    return "tag";
  }

  #next(code: number): State | "done" | undefined {
    switch (this.#state) {
      case "token":
        return this.#tokenState(code);
      case "start":
      case "slash":
        return this.#startState(code);
      case "name":
        return this.#nameState(code);
      case "closing":
        if (code === GREATER) return "done";
        return code === SLASH || isWhiteSpace(code) ? "closing" : undefined;
      default:
        return this.#attributeState(code);
    }
  }

  #tokenState(code: number): State | "done" | undefined {
    if (this.#token === undefined) return undefined;
    const token = nextToken(this.#token, code, this.text.charCodeAt(0) !== 0x5b);
    // A refusal leaves no trace: a candidate that a tag interrupted goes on later.
    if (token === undefined) return undefined;
    this.#token = token;
    this.tag = token.tag;
    return token.tag === undefined ? "token" : "done";
  }

  #startState(code: number): State | undefined {
    if (code === BAR && this.text === "<") {
      this.#token = tokenNode("<|");
      return "token";
    }
    if (code === SLASH && !this.#end) {
      this.#end = true;
      return "slash";
    }
    if (code === 0x20 || code === 0x09) return this.#state;
    if (!isLetter(code)) return undefined;
    this.#nameAt = this.text.length;
    return "name";
  }

  #nameState(code: number): State | "done" | undefined {
    if (isNameCharacter(code) || code === DOT) {
      return this.text.length - this.#nameAt < MAX_NAME ? "name" : undefined;
    }
    if (code === BAR) {
      this.#token = tokenNode(this.text);
      return this.#token === undefined ? undefined : this.#tokenState(code);
    }
    const family = reasoningFamily(this.text.slice(this.#nameAt));
    if (family === undefined) return undefined;
    this.#family = family;
    if (code === GREATER) return "done";
    if (code === SLASH) return "closing";
    return isWhiteSpace(code) ? "space" : undefined;
  }

  #attributeState(code: number): State | "done" | undefined {
    if (code === GREATER) return "done";
    if (startsTag(code)) return undefined;
    const state = this.#state;
    if (state === "quoted") return code === this.#quote ? "space" : "quoted";
    if (isWhiteSpace(code)) return state === "equals" ? "equals" : "space";
    if (state === "equals") {
      if (code !== DOUBLE_QUOTE && code !== SINGLE_QUOTE) return isPlain(code) ? "value" : undefined;
      this.#quote = code;
      return "quoted";
    }
    if (state === "value") return isPlain(code) ? "value" : undefined;
    if (code === EQUALS) return "equals";
    if (code === SLASH) return "closing";
    return state === "attribute" ? attributeGoesOn(code) : attributeStarts(code);
  }
}

function attributeStarts(code: number): State | undefined {
  return isLetter(code) || code === 0x5f || code === 0x3a || code === 0x40 ? "attribute" : undefined;
}

function attributeGoesOn(code: number): State | undefined {
  return isNameCharacter(code) ? "attribute" : undefined;
}

function isPlain(code: number): boolean {
  return code !== DOUBLE_QUOTE && code !== SINGLE_QUOTE && code !== EQUALS && code !== BACKTICK;
}
