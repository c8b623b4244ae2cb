import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ensureToken } from "../src/index.js";
import { FixtureProcess, scratchFolder } from "./fixture-process.js";

it("gives processes that start at the same time the same token, readable by its owner only", async () => {
  const dataDir = scratchFolder();
  const racers = Array.from({ length: 4 }, () => new FixtureProcess("token", { TROUPE_DATA: dataDir }));
  for (const racer of racers) expect((await racer.exited).code).toBe(0);
  const [token = "", ...others] = racers.map(({ stdout }) => stdout);
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(others).toEqual([token, token, token]);
  const keys = join(dataDir, "keys");
  expect(readdirSync(keys)).toEqual(["http-token"]);
  expect(readFileSync(join(keys, "http-token"), "utf8").trim()).toBe(token);
  expect(statSync(join(keys, "http-token")).mode & 0o777).toBe(0o600);
  expect(statSync(keys).mode & 0o777).toBe(0o700);
});

it("agrees with itself when asked many times at once", async () => {
  const dataDir = scratchFolder();
  const tokens = await Promise.all(Array.from({ length: 20 }, () => ensureToken({ dataDir })));
  expect(new Set(tokens).size).toBe(1);
});

it("prefers the configured token and then makes no file", async () => {
  const dataDir = scratchFolder();
  const racer = new FixtureProcess("token", { TROUPE_DATA: dataDir, TROUPE_TOKEN: "mine" });
  await racer.exited;
  expect(racer.stdout).toBe("mine");
  expect(readdirSync(dataDir)).toEqual([]);
});

it("refuses an empty token file and says what to do", async () => {
  const dataDir = scratchFolder();
  mkdirSync(join(dataDir, "keys"));
  writeFileSync(join(dataDir, "keys", "http-token"), "\n");
  await expect(ensureToken({ dataDir })).rejects.toThrow(/http-token is empty: remove it/);
});

it("says which file could not be made", async () => {
  const dataDir = scratchFolder();
  writeFileSync(join(dataDir, "keys"), "a file where a folder should be");
  await expect(ensureToken({ dataDir })).rejects.toThrow(/cannot read or make the token file .*http-token/);
});
