import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LogFile } from "../src/log-file.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "troupe-log-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("LogFile", () => {
  it("writes lines in order, into a file for its owner alone", async () => {
    const path = join(folder, "logs", "worker.log");
    const log = new LogFile(path);
    for (let n = 0; n < 1000; n += 1) log.write(`line ${n}`);
    await log.flush();
    log.write("last");
    await log.flush();
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    expect(lines).toHaveLength(1001);
    expect(lines.slice(0, 2)).toEqual(["line 0", "line 1"]);
    expect(lines.at(-1)).toBe("last");
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("never takes more than two files of the given size, also over a restart", async () => {
    const path = join(folder, "worker.log");
    for (let n = 0; n < 50; n += 1) {
      const log = new LogFile(path, 100);
      log.write(`entry ${n}`.padEnd(29));
      await log.flush();
    }
    const sizes = [path, `${path}.1`].map((file) => statSync(file).size);
    for (const size of sizes) expect(size).toBeLessThanOrEqual(100);
    expect(readFileSync(path, "utf8")).toContain("entry 49");
    expect(existsSync(`${path}.2`)).toBe(false);
  });

  it("goes on when it cannot be written", async () => {
    const log = new LogFile("/dev/null/worker.log");
    log.write("lost");
    await expect(log.flush()).resolves.toBeUndefined();
  });
});
