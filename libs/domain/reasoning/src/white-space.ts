export const NEWLINE = 0x0a;
const TAB = 0x09;
const SPACE = 0x20;
const TAB_COLUMNS = 4;

/** What separates words: ASCII white space and the wide and non-breaking spaces that models write. */
export function isWhiteSpace(code: number): boolean {
  if (code > SPACE && code < 0xa0) return false;
  return code === SPACE || (code >= TAB && code <= 0x0d) || code === 0xa0 || code === 0x3000 || code === 0x2028;
}

/** A run of white space as Markdown sees it: how many lines it ends, and how far the next one is indented. */
export class WhiteSpaceRun {
  newlines = 0;
  columns = 0;
  any = false;

  push(code: number): void {
    this.any = true;
    if (code === NEWLINE) {
      this.newlines++;
      this.columns = 0;
    } else {
      this.columns += code === TAB ? TAB_COLUMNS : 1;
    }
  }

  copy(from: Readonly<WhiteSpaceRun>): void {
    this.newlines = from.newlines;
    this.columns = from.columns;
    this.any = from.any;
  }

  clear(): void {
    this.newlines = 0;
    this.columns = 0;
    this.any = false;
  }
}
