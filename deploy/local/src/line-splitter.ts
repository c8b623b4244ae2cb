import type { Readable } from "node:stream";

/** A line without an end must not grow in memory for ever. */
const LONGEST = 64 * 1024;

/** Calls back for each line of a stream, the last one even without a line end. */
export function eachLine(stream: Readable, take: (line: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line.replace(/\r$/, ""));
    if (rest.length > LONGEST) {
      take(rest);
      rest = "";
    }
  });
  stream.on("close", () => {
    if (rest !== "") take(rest);
    rest = "";
  });
}
