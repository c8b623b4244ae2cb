import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const script = fileURLToPath(new URL("../../../.ci/run", import.meta.url));

let clone: string;
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), "troupe-ci-"));
  mkdirSync(join(clone, ".ci"));
  mkdirSync(join(clone, "bin"));
  cpSync(script, join(clone, ".ci/run"));
});
afterEach(() => rmSync(clone, { recursive: true, force: true }));

/** Runs the script with an `npm` that prints and ends as told. */
function run(npm: string) {
  writeFileSync(join(clone, "bin/npm"), `#!/bin/sh\n${npm}\n`, { mode: 0o755 });
  const env = { ...process.env, PATH: `${join(clone, "bin")}:${process.env.PATH}` };
  return new Promise<{ code: number; last: string | undefined }>((resolve) => {
    execFile("bash", [join(clone, ".ci/run")], { env }, (error, out) => {
      resolve({ code: error === null ? 0 : Number(error.code), last: out.trimEnd().split("\n").at(-1) });
    });
  });
}

describe(".ci/run", () => {
  it.each([
    ["all passed", "echo noise; echo '12 passed, 0 failed'", 0, "12 passed, 0 failed"],
    ["some failed", "echo '12 passed, 3 failed'; exit 1", 1, "12 passed, 3 failed"],
    ["an exit code without a failure counts as one", "echo '12 passed, 0 failed'; exit 1", 1, "12 passed, 1 failed"],
    ["no result counts as a failure", "echo crashed; exit 134", 1, "0 passed, 1 failed"],
    [
      "an earlier line is not the result",
      "echo '1 passed, 0 failed'; echo '2 passed, 0 failed'",
      0,
      "2 passed, 0 failed",
    ],
  ])("%s", async (_case, npm, code, last) => {
    expect(await run(npm)).toEqual({ code, last });
  });
});
