import { cells } from "./cell-rows.js";

/*
 * The rows at the bottom of the terminal that are not history yet: preview, status and input line.
 *
 * R1 Every row is at most as wide as the terminal and is written with automatic wrapping off, so that a row of ours is
 *    a row there even where the terminal counts an emoji differently.
 * R2 The region is never higher than the terminal: what has scrolled away cannot be taken back.
 * R3 What is written above it is final and is never touched again.
 */

export interface RegionContent {
  readonly rows: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number };
}

const ESC = "\u001b";
const WRAP_OFF = `${ESC}[?7l`;
const WRAP_ON = `${ESC}[?7h`;
const BEGIN_FRAME = `${ESC}[?2026h`;
const END_FRAME = `${ESC}[?2026l`;
const CLEAR_BELOW = `${ESC}[J`;
const EMPTY: RegionContent = { rows: [], cursor: { row: 0, column: 0 } };

/** Computes what to send to the terminal; it sends nothing itself. */
export class LiveRegion {
  #drawn: RegionContent = EMPTY;

  /**
   * The bytes that put `above` into the scrolled history and draw the region anew below it.
   *
   * @param above whole lines, or an empty string
   * @param columns the terminal's width now: rows drawn at another width may have been folded by it
   */
  frame(above: string, content: RegionContent, columns: number): string {
    const lines = above === "" ? "" : `${above.replaceAll("\n", "\r\n")}\r\n`;
    const erased = this.#erase(columns);
    this.#drawn = content;
    const below = content.rows.length - 1 - content.cursor.row;
    const up = below > 0 ? `${ESC}[${below}A` : "";
    const right = content.cursor.column > 0 ? `${ESC}[${content.cursor.column}C` : "";
    const region = `${WRAP_OFF}${content.rows.join("\r\n")}\r${up}${right}${WRAP_ON}`;
    return `${BEGIN_FRAME}${erased}${lines}${region}${END_FRAME}`;
  }

  /** The bytes that take the region away, for leaving. */
  clear(columns: number): string {
    const erased = this.#erase(columns);
    this.#drawn = EMPTY;
    return erased;
  }

  #erase(columns: number): string {
    const { rows, cursor } = this.#drawn;
    let up = Math.floor(cursor.column / columns);
    for (const row of rows.slice(0, cursor.row)) up += Math.max(1, Math.ceil(cells(row) / columns));
    return `\r${up > 0 ? `${ESC}[${up}A` : ""}${CLEAR_BELOW}`;
  }
}
