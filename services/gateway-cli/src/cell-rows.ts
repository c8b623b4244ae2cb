import stringWidth from "string-width";

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const TAB = 8;

export interface CellRows {
  /** None is wider than the columns given, and none holds a tab or a line feed. */
  readonly rows: readonly string[];
  /** Where the character at the marked index begins, in rows and cells. */
  readonly mark: { readonly row: number; readonly column: number };
}

/**
 * Breaks text into the rows that a terminal shows, so that a row here is a row there: a character of two cells that
 * does not fit moves down whole, and what belongs together (an emoji of several code points) is never cut.
 *
 * @param text as {@link sanitise} leaves it
 * @param markAt an index into the text to be found again in the rows, such as the cursor's; else the end is marked
 */
export function cellRows(text: string, columns: number, markAt = Number.POSITIVE_INFINITY): CellRows {
  const rows: string[] = [];
  let mark: CellRows["mark"] | undefined;
  let row = "";
  let used = 0;
  const breakRow = (): void => {
    rows.push(row);
    row = "";
    used = 0;
  };
  for (const { segment, index } of graphemes.segment(text)) {
    if (segment === "\n") {
      if (mark === undefined && index >= markAt) mark = { row: rows.length, column: Math.min(used, columns - 1) };
      breakRow();
      continue;
    }
    const shown = segment === "\t" ? " ".repeat(Math.min(TAB - (used % TAB), columns)) : segment;
    const width = cells(shown);
    if (used + width > columns && used > 0) breakRow();
    if (mark === undefined && index + segment.length > markAt) mark = { row: rows.length, column: used };
    row += shown;
    used += width;
  }
  // The cursor after a full row stands on the next one.
  if (mark === undefined && used >= columns && markAt === text.length) breakRow();
  mark ??= { row: rows.length, column: used };
  rows.push(row);
  return { rows, mark };
}

/** How many cells a piece of text takes; escape sequences for colour take none. */
export function cells(text: string): number {
  return /^[\x20-\x7e]*$/.test(text) ? text.length : stringWidth(text);
}

/** As much of a line as fits, with a sign that there is more. */
export function cutTo(text: string, columns: number): string {
  if (cells(text) <= columns) return text;
  return columns < 2 ? "…".slice(0, Math.max(0, columns)) : `${cellRows(text, columns - 1).rows[0] ?? ""}…`;
}

/** The index one character (as a person counts them) before or after `index`, within the text. */
export function stepOver(text: string, index: number, direction: -1 | 1): number {
  let before = 0;
  for (const segment of graphemes.segment(text)) {
    const end = segment.index + segment.segment.length;
    if (direction === 1 && end > index) return end;
    if (direction === -1 && end >= index) return segment.index;
    before = end;
  }
  return before;
}
