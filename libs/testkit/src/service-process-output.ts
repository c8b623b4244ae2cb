import type { Readable } from "node:stream";

/** What a service wrote, line by line, over all its starts. */
export class ProcessOutput {
  readonly lines: string[] = [];
  readonly #waiting = new Set<() => void>();

  /** Takes what a stream carries; resolves when it has ended. */
  async take(stream: Readable): Promise<void> {
    let rest = "";
    try {
      for await (const text of stream.setEncoding("utf8")) {
        const lines = `${rest}${String(text)}`.split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) this.add(line);
      }
    } catch {
      // A killed process leaves its pipe as it is; what came through is here.
    }
    if (rest !== "") this.add(rest);
  }

  add(line: string): void {
    this.lines.push(line);
    for (const look of this.#waiting) look();
  }

  /** Where the output ends now: `waitFor` with it looks only at what comes later. */
  get mark(): number {
    return this.lines.length;
  }

  /**
   * The first line from `from` on that holds the text or matches.
   *
   * @throws Error with the output's end when none came within `limitMs`
   */
  waitFor(what: string | RegExp, from = 0, limitMs = 30_000): Promise<string> {
    const fits = (line: string): boolean => (typeof what === "string" ? line.includes(what) : what.test(line));
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = this.lines.slice(from).find(fits);
        if (found !== undefined) end(() => resolve(found));
      };
      const end = (then: () => void): void => {
        clearTimeout(limit);
        this.#waiting.delete(look);
        then();
      };
      const limit = setTimeout(() => {
        const said = this.lines.slice(-20).join("\n");
        end(() => reject(new Error(`no line with ${String(what)} within ${limitMs} ms; the last ones:\n${said}`)));
      }, limitMs);
      this.#waiting.add(look);
      look();
    });
  }

  /** A field of the JSON log line with this message. */
  async field(message: string, name: string, from = 0): Promise<unknown> {
    const line = await this.waitFor(`"msg":${JSON.stringify(message)}`, from);
    const entry: unknown = JSON.parse(line);
    return typeof entry === "object" && entry !== null
      ? Object.entries(entry).find(([key]) => key === name)?.[1]
      : null;
  }
}
