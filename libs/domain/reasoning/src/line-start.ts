const MAX_INDENT = 3;

/**
 * Where on its line a text is, as far as Markdown blocks care: behind indentation, `>` and list markers a
 * code fence may still begin. Columns are counted from the margin; a list moves the margin of what it holds.
 */
export class LineStart {
  #phase: "start" | "bullet" | "digits" | "delimiter" | "inline" = "start";
  #column = 0;
  #listColumn = 0;
  #quoteColumn = 0;

  /** How far what stands here is from the margin. */
  get column(): number {
    return this.#column;
  }

  /** Nothing but indentation and markers stands before this place on its line. */
  get leads(): boolean {
    return this.#phase === "start";
  }

  /** A fence may begin here. */
  get fenceable(): boolean {
    return this.#phase === "start" && this.#column - Math.max(this.#listColumn, this.#quoteColumn) <= MAX_INDENT;
  }

  newline(columns: number): void {
    this.#phase = "start";
    this.#column = columns;
    this.#quoteColumn = 0;
  }

  /** White space within the line; true if it completes a list marker: what follows is a block of its own. */
  space(columns: number): boolean {
    this.#column += columns;
    if (this.#phase === "digits") this.#phase = "inline";
    if (this.#phase !== "bullet" && this.#phase !== "delimiter") return false;
    this.#phase = "start";
    this.#listColumn = this.#column;
    return true;
  }

  /** `prose` is false inside of a fence: there is no list there, and the list around it keeps its margin. */
  char(code: number, prose: boolean): void {
    if (this.#phase === "inline") return;
    if (!prose) {
      if (code !== 0x3e) this.#phase = "inline";
      this.#column++;
      return;
    }
    const marker = this.#phase === "start" || this.#phase === "digits";
    if (marker && code >= 0x30 && code <= 0x39) this.#phase = "digits";
    else if (this.#phase === "digits" && (code === 0x2e || code === 0x29)) this.#phase = "delimiter";
    else if (this.#phase === "start" && (code === 0x2d || code === 0x2a || code === 0x2b)) this.#phase = "bullet";
    else if (this.#phase === "start" && code === 0x3e) this.#quoteColumn = this.#column + 1;
    else {
      this.#phase = "inline";
      if (this.#column === 0) this.#listColumn = 0;
    }
    this.#column++;
  }

  clone(): LineStart {
    const copy = new LineStart();
    copy.#phase = this.#phase;
    copy.#column = this.#column;
    copy.#listColumn = this.#listColumn;
    copy.#quoteColumn = this.#quoteColumn;
    return copy;
  }
}
