import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { lockDataFolder } from "../src/data-lock.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "troupe-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("lockDataFolder", () => {
  it("lets one in, names it to the next, and lets that one in afterwards", async () => {
    const lock = await lockDataFolder(folder);
    await expect(lockDataFolder(folder)).rejects.toThrow(`(process ${process.pid})`);
    await lock.release();
    await (await lockDataFolder(folder)).release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each([
    ["a process that is gone", "4194304 1\n"],
    ["a process whose number was given to another one meanwhile", `${process.pid} 1\n`],
    ["nobody", ""],
  ])("takes over the lock of %s", async (_who, content) => {
    writeFileSync(join(folder, "lock"), content);
    const lock = await lockDataFolder(folder);
    await lock.release();
    expect(existsSync(join(folder, "lock"))).toBe(false);
  });
});
