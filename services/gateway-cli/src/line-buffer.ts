import { stepOver } from "./cell-rows.js";

/** The text being written and the cursor in it, moved by whole characters as a person counts them. */
export class LineBuffer {
  #text = "";
  #cursor = 0;
  #killed = "";
  readonly #history: string[] = [];
  /** Index into the history while leafing through it. */
  #leaf: number | undefined;
  #draft = "";

  get text(): string {
    return this.#text;
  }

  get cursor(): number {
    return this.#cursor;
  }

  insert(text: string): void {
    this.#text = this.#text.slice(0, this.#cursor) + text + this.#text.slice(this.#cursor);
    this.#cursor += text.length;
  }

  left(): void {
    this.#cursor = stepOver(this.#text, this.#cursor, -1);
  }

  right(): void {
    this.#cursor = stepOver(this.#text, this.#cursor, 1);
  }

  wordLeft(): void {
    this.#cursor = this.#wordStart();
  }

  wordRight(): void {
    this.#cursor += /^[^\p{L}\p{N}]*[\p{L}\p{N}]*/u.exec(this.#text.slice(this.#cursor))?.[0].length ?? 0;
  }

  /** To the beginning of the line that the cursor is in. */
  home(): void {
    this.#cursor = lineStart(this.#text, this.#cursor);
  }

  end(): void {
    const end = this.#text.indexOf("\n", this.#cursor);
    this.#cursor = end < 0 ? this.#text.length : end;
  }

  deleteLeft(): void {
    this.#remove(stepOver(this.#text, this.#cursor, -1), this.#cursor);
  }

  deleteRight(): void {
    this.#remove(this.#cursor, stepOver(this.#text, this.#cursor, 1));
  }

  killWordLeft(): void {
    this.#kill(this.#wordStart(), this.#cursor);
  }

  killToStart(): void {
    const end = this.#cursor;
    this.home();
    this.#kill(this.#cursor, end);
  }

  killToEnd(): void {
    const start = this.#cursor;
    this.end();
    this.#kill(start, this.#cursor);
  }

  yank(): void {
    this.insert(this.#killed);
  }

  /** A line up, or where there is none the message sent before. */
  up(): void {
    if (!this.#moveLine(-1)) this.#leafTo((this.#leaf ?? this.#history.length) - 1);
  }

  down(): void {
    if (!this.#moveLine(1) && this.#leaf !== undefined) this.#leafTo(this.#leaf + 1);
  }

  /** Empties the buffer and gives what was in it; what was sent can be leafed back to. */
  take(): string {
    const text = this.#text;
    if (text.trim() !== "" && this.#history.at(-1) !== text) this.#history.push(text);
    this.clear();
    return text;
  }

  clear(): void {
    this.#set("");
    this.#leaf = undefined;
  }

  #leafTo(index: number): void {
    if (index < 0) return;
    if (this.#leaf === undefined) this.#draft = this.#text;
    this.#leaf = index < this.#history.length ? index : undefined;
    this.#set(this.#history[index] ?? this.#draft);
  }

  #moveLine(direction: -1 | 1): boolean {
    const start = lineStart(this.#text, this.#cursor);
    const column = this.#cursor - start;
    const end = this.#text.indexOf("\n", this.#cursor);
    if (direction === -1 ? start === 0 : end < 0) return false;
    const target = direction === -1 ? lineStart(this.#text, start - 1) : end + 1;
    const targetEnd = this.#text.indexOf("\n", target);
    this.#cursor = Math.min(target + column, targetEnd < 0 ? this.#text.length : targetEnd);
    return true;
  }

  #wordStart(): number {
    const before = this.#text.slice(0, this.#cursor);
    return before.length - (/[\p{L}\p{N}]*[^\p{L}\p{N}]*$/u.exec(before)?.[0].length ?? 0);
  }

  #kill(start: number, end: number): void {
    if (start < end) this.#killed = this.#text.slice(start, end);
    this.#remove(start, end);
  }

  #remove(start: number, end: number): void {
    this.#text = this.#text.slice(0, start) + this.#text.slice(end);
    this.#cursor = start;
  }

  #set(text: string): void {
    this.#text = text;
    this.#cursor = text.length;
  }
}

function lineStart(text: string, index: number): number {
  return text.slice(0, index).lastIndexOf("\n") + 1;
}
