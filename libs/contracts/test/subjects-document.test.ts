import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { Retention, topology } from "../src/index.js";
import { subjectsDocument } from "./subjects-document.js";

const PATH = fileURLToPath(new URL("../../../docs/subjects.md", import.meta.url));

test("docs/subjects.md says what the topology says; `npm run docs` makes it anew", async () => {
  const made = subjectsDocument(topology(Retention.parse({})));
  if (process.env["UPDATE_DOCS"] === "1") await writeFile(PATH, made);
  expect(await readFile(PATH, "utf8")).toBe(made);
});
