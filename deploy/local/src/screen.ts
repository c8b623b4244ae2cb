import { join } from "node:path";
import { LogFile } from "./log-file.js";
import { readLogLine, showLogLine } from "./log-line.js";
import type { ProcessListener } from "./supervised-process.js";

/** For so long after the chat opened a warning is still worth disturbing it: a wrong key shows itself only then. */
const STILL_SHOWN_MS = 5_000;

/**
 * Where everything goes that a start and its services have to say. Without a log folder all of it goes to the screen;
 * with one, the services' lines go to a file each and the screen shows warnings only, because a person chats there.
 */
export class Screen implements ProcessListener {
  readonly #logFolder: string | undefined;
  readonly #files = new Map<string, LogFile>();
  #quietFrom = Number.POSITIVE_INFINITY;
  #stopping = false;

  constructor(logFolder?: string) {
    this.#logFolder = logFolder;
    // Whoever read our output may be gone (`npm start | head`); that is no reason to leave services behind.
    for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  }

  /** From a few seconds after now on, nothing disturbs the screen any more. */
  chatOpens(): void {
    this.#quietFrom = performance.now() + STILL_SHOWN_MS;
  }

  /** The terminal is ours again; what services say while they end is for their log files only. */
  chatIsOver(): void {
    this.#quietFrom = Number.POSITIVE_INFINITY;
    this.#stopping = true;
  }

  line(name: string, text: string): void {
    if (text.trim() === "") return;
    this.#file(name)?.write(text);
    const line = readLogLine(text);
    const shown =
      this.#logFolder === undefined ? line.level !== "debug" : line.level === "warn" || line.level === "error";
    if (shown && !this.#isQuiet && !this.#stopping) process.stdout.write(`${showLogLine(name, line, new Date())}\n`);
  }

  notice(text: string): void {
    this.#file("troupe")?.write(`${new Date().toISOString()} ${text}`);
    if (!this.#isQuiet) process.stdout.write(`troupe: ${text}\n`);
  }

  /** Resolves when the log files hold everything. */
  async flush(): Promise<void> {
    await Promise.all([...this.#files.values()].map((file) => file.flush()));
  }

  get #isQuiet(): boolean {
    return performance.now() > this.#quietFrom;
  }

  #file(name: string): LogFile | undefined {
    if (this.#logFolder === undefined) return undefined;
    const file = this.#files.get(name) ?? new LogFile(join(this.#logFolder, `${name}.log`));
    this.#files.set(name, file);
    return file;
  }
}
