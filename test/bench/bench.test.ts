import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const script = fileURLToPath(new URL("run.mjs", import.meta.url));

test("a bench sets each figure that it took beside its budget, with and without fsync", {
  timeout: 120_000,
}, async () => {
  const short = ["--rounds", "1", "--seconds", "0.3", "--warm-up", "0.01", "--clients", "1,16"];
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...short, "--fsync"]);
  const verdicts = stdout.split("\n").filter((line) => / (aim met|met|\*\*missed\*\*) \|$/.test(line));
  expect(verdicts.map((line) => line.split(" | ")[0])).toEqual([
    "| added latency of a streamed turn, 1 client, p50",
    "| turns per second, streamed, 16 clients",
    "| the same, every write fsynced, 16 clients",
    "| memory at rest, all processes (PSS)",
  ]);
  const turns = stdout.split("\n").filter((line) => line.startsWith("| streamed"));
  expect(turns).toHaveLength(4);
  for (const line of turns) expect(line).toMatch(/^(\| [^|]+){2}\| [1-9]\d* .*\| 0 \|$/);
});
