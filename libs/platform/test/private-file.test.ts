import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createPrivateFile, replacePrivateFile } from "../src/index.js";
import { scratchFolder } from "./fixture-process.js";

it("replaces a file as a whole, readable by its owner only, and leaves nothing beside it", async () => {
  const path = join(scratchFolder(), "inner", "file.json");
  await replacePrivateFile(path, "one");
  await replacePrivateFile(path, "two");
  expect(readFileSync(path, "utf8")).toBe("two");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(path, ".."))).toEqual(["file.json"]);
});

it("creates a file once: of many at the same time one wins, and its content stays", async () => {
  const path = join(scratchFolder(), "file");
  const made = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => ({
      index,
      won: await createPrivateFile(path, `${index}`),
    })),
  );
  const winners = made.filter(({ won }) => won);
  expect(winners).toHaveLength(1);
  expect(readFileSync(path, "utf8")).toBe(String(winners[0]?.index));
  expect(readdirSync(join(path, ".."))).toEqual(["file"]);
});
