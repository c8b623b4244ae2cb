import { Unicode11Addon } from "@xterm/addon-unicode11";
import xterm from "@xterm/headless";

/** A real terminal emulator, so that a test sees what a person would see. */
export class Screen {
  readonly #terminal: InstanceType<typeof xterm.Terminal>;

  constructor(columns: number, rows: number) {
    this.#terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 10_000 });
    this.#terminal.loadAddon(new Unicode11Addon());
    this.#terminal.unicode.activeVersion = "11";
  }

  async write(bytes: string): Promise<void> {
    await new Promise<void>((resolve) => this.#terminal.write(bytes, resolve));
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
  }

  /** Everything that was ever scrolled or is on the screen, without empty rows at the end; folded rows are joined. */
  get text(): string {
    const buffer = this.#terminal.buffer.active;
    const lines: string[] = [];
    for (let y = 0; y < buffer.length; y++) {
      const line = buffer.getLine(y);
      const shown = line?.translateToString(true) ?? "";
      if (line?.isWrapped === true) lines.push((lines.pop() ?? "") + shown);
      else lines.push(shown);
    }
    return lines.join("\n").trimEnd();
  }

  get cursor(): { row: number; column: number } {
    const buffer = this.#terminal.buffer.active;
    return { row: buffer.baseY + buffer.cursorY, column: buffer.cursorX };
  }

  get rows(): string[] {
    const buffer = this.#terminal.buffer.active;
    return Array.from({ length: buffer.length }, (_, y) => buffer.getLine(y)?.translateToString(true) ?? "");
  }
}
