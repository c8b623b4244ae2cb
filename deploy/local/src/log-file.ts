import { appendFile, mkdir, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";

const LARGEST_BYTES = 5 * 1024 * 1024;
/** What has not been written yet when the disk is slow or full; beyond that lines are dropped. */
const MOST_WAITING = 1_000_000;

/** A log file of bounded size: when it is full it becomes `<name>.1`, and the one before that is gone. */
export class LogFile {
  readonly #path: string;
  readonly #largestBytes: number;
  #waiting = "";
  #size: number | undefined;
  #writing: Promise<void> | undefined;

  constructor(path: string, largestBytes = LARGEST_BYTES) {
    this.#path = path;
    this.#largestBytes = largestBytes;
  }

  /** Takes a line; it is written soon, in order. */
  write(line: string): void {
    if (this.#waiting.length > MOST_WAITING) return;
    this.#waiting += `${line}\n`;
    this.#writing ??= this.#drain();
  }

  /** Resolves when all lines taken so far are written. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  /** A log that cannot be written (the disk is full) must not stop what it tells about. */
  async #drain(): Promise<void> {
    try {
      await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
      this.#size ??= (await stat(this.#path).catch(() => undefined))?.size ?? 0;
      while (this.#waiting !== "") {
        const text = this.#waiting;
        this.#waiting = "";
        if (this.#size > 0 && this.#size + text.length > this.#largestBytes) {
          await rename(this.#path, `${this.#path}.1`);
          this.#size = 0;
        }
        await appendFile(this.#path, text, { mode: 0o600 });
        this.#size += Buffer.byteLength(text);
      }
    } catch {
      this.#waiting = "";
      this.#size = undefined;
    } finally {
      this.#writing = undefined;
    }
  }
}
