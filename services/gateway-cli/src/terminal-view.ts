import { emitKeypressEvents } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import { cellRows } from "./cell-rows.js";
import type { ChatView, Tone } from "./chat-view.js";
import { type Key, type KeyAction, pressKey } from "./key-binding.js";
import { LineBuffer } from "./line-buffer.js";
import { LiveRegion, type RegionContent } from "./live-region.js";
import { type Paint, paintFor } from "./paint.js";
import { sanitise, sanitiseLine } from "./sanitise.js";

const PROMPT = "› ";
const FRAME_MS = 30;
/** More than any terminal shows, so that a long preview is not laid out anew in full for every frame. */
const PREVIEW_TAIL = 16_384;
const PASTE_ON = "\u001b[?2004h";
const PASTE_OFF = "\u001b[?2004l";
const CLEAR_SCREEN = "\u001b[H\u001b[2J";

/** The streams of a terminal; tests give their own. */
export interface TerminalStreams {
  readonly input: Pick<ReadStream, "setRawMode" | "on" | "off" | "resume" | "pause"> & NodeJS.ReadableStream;
  readonly output: Pick<WriteStream, "columns" | "rows" | "write" | "on" | "off"> & { hasColors?(): boolean };
}

export interface TerminalHandlers {
  readonly submit: (text: string) => void;
  readonly interrupt: () => void;
  readonly leave: () => void;
}

/**
 * A terminal with history above and, at the bottom, what is still changing: preview, status, input line.
 *
 * The line editor is our own because Node's assumes that nothing else writes below what it has drawn, and counts and
 * deletes an emoji of several code points piece by piece.
 */
export class TerminalView implements ChatView {
  readonly #streams: TerminalStreams;
  readonly #handlers: TerminalHandlers;
  readonly #paint: Paint;
  readonly #region = new LiveRegion();
  readonly #line = new LineBuffer();
  #above: string[] = [];
  #preview = "";
  #status = "";
  #pasted: string[] | undefined;
  #frame: NodeJS.Timeout | undefined;
  #open = false;

  constructor(streams: TerminalStreams, handlers: TerminalHandlers) {
    this.#streams = streams;
    this.#handlers = handlers;
    this.#paint = paintFor(streams.output);
  }

  open(): void {
    const { input, output } = this.#streams;
    this.#open = true;
    emitKeypressEvents(input);
    input.setRawMode(true);
    input.on("keypress", this.#onKey);
    input.on("end", this.#handlers.leave);
    input.resume();
    output.on("resize", this.#draw);
    output.write(PASTE_ON);
    this.#draw();
  }

  /** Leaves the terminal as it was found, with the history on it. */
  close(): void {
    if (!this.#open) return;
    const { input, output } = this.#streams;
    this.#preview = "";
    this.#status = "";
    this.#draw();
    this.#open = false;
    clearTimeout(this.#frame);
    input.off("keypress", this.#onKey);
    input.off("end", this.#handlers.leave);
    output.off("resize", this.#draw);
    output.write(this.#region.clear(this.#columns) + PASTE_OFF);
    input.setRawMode(false);
    input.pause();
  }

  /** Whether something is typed but not sent. */
  get typed(): boolean {
    return this.#line.text !== "";
  }

  clearLine(): void {
    this.#line.clear();
    this.#schedule();
  }

  question(text: string): void {
    this.#print(this.#paint("cyan", `${PROMPT}${sanitise(text).replaceAll("\n", "\n  ")}`));
  }

  answer(text: string): void {
    this.#print(`${sanitise(text)}\n`);
  }

  note(text: string, tone: Tone): void {
    const format = tone === "quiet" ? "dim" : tone === "warning" ? "yellow" : "red";
    this.#print(this.#paint(format, sanitise(text)));
  }

  preview(text: string): void {
    this.#preview = text;
    this.#schedule();
  }

  status(text: string): void {
    this.#status = text;
    this.#schedule();
  }

  get #columns(): number {
    return Math.max(4, this.#streams.output.columns || 80);
  }

  #print(text: string): void {
    this.#above.push(text);
    this.#schedule();
  }

  /** Deltas and pasted characters come in crowds: they share a frame. */
  #schedule(): void {
    if (this.#open) this.#frame ??= setTimeout(this.#draw, FRAME_MS);
  }

  readonly #draw = (): void => {
    clearTimeout(this.#frame);
    this.#frame = undefined;
    const above = this.#above.join("\n");
    this.#above = [];
    this.#streams.output.write(this.#region.frame(above, this.#content(), this.#columns));
  };

  #content(): RegionContent {
    const columns = this.#columns;
    const height = Math.max(2, (this.#streams.output.rows || 24) - 1);
    const input = this.#inputRows(columns, Math.max(1, Math.floor(height / 2)));
    const status = this.#status === "" ? [] : this.#statusRow(columns);
    const room = Math.max(0, height - input.rows.length - status.length);
    const preview = this.#previewRows(columns, room);
    const rows = [...preview, ...status, ...input.rows];
    const cursor = { row: preview.length + status.length + input.cursor.row, column: input.cursor.column };
    return { rows, cursor };
  }

  /** The end of the preview: what does not fit above it is shown with the final text. */
  #previewRows(columns: number, room: number): readonly string[] {
    const text = sanitise(this.#preview.slice(-PREVIEW_TAIL)).trimEnd();
    if (text === "" || room === 0) return [];
    return cellRows(text, columns).rows.slice(-room);
  }

  #statusRow(columns: number): string[] {
    return [this.#paint("dim", cellRows(sanitiseLine(this.#status), columns).rows[0] ?? "")];
  }

  #inputRows(columns: number, room: number): RegionContent {
    const { text, cursor } = this.#line;
    const { rows, mark } = cellRows(PROMPT + sanitise(text), columns, PROMPT.length + cursor);
    const first = Math.max(0, Math.min(mark.row - room + 1, rows.length - room));
    const shown = rows.slice(first, first + room);
    if (first === 0) shown[0] = (shown[0] ?? "").replace(PROMPT, this.#paint("cyan", PROMPT));
    return { rows: shown, cursor: { row: mark.row - first, column: mark.column } };
  }

  readonly #onKey = (text: string | undefined, key: Key): void => {
    if (key.name === "paste-start") this.#pasted = [];
    else if (this.#pasted !== undefined) this.#paste(text, key);
    else this.#act(pressKey(this.#line, text, key));
    this.#schedule();
  };

  /** Pasted text is text: its line ends do not send and its control characters do not edit. */
  #paste(text: string | undefined, key: Key): void {
    if (key.name === "paste-end") {
      this.#line.insert(sanitise((this.#pasted ?? []).join("").replace(/\r\n?/g, "\n")));
      this.#pasted = undefined;
    } else if (text !== undefined) {
      this.#pasted?.push(text);
    }
  }

  #act(action: KeyAction): void {
    switch (action) {
      case undefined:
        return;
      case "submit": {
        const text = this.#line.take();
        if (text.trim() === "") return;
        this.question(text);
        return this.#handlers.submit(text);
      }
      case "interrupt":
        return this.#handlers.interrupt();
      case "leave":
        return this.#handlers.leave();
      case "redraw":
        this.#streams.output.write(CLEAR_SCREEN);
        return this.#draw();
    }
  }
}
