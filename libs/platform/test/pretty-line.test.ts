import { expect, it } from "vitest";
import { prettyLine } from "../src/pretty-line.js";

const entry = {
  level: "info",
  time: "2026-01-02T03:04:05.678Z",
  pid: 1,
  service: "orchestrator",
  msg: "ready",
};

it("puts an entry on one line, fields last", () => {
  const line = prettyLine(JSON.stringify({ ...entry, port: 7070, note: "two words", at: { a: 1 } }));
  expect(line).toMatch(/^\d\d:\d\d:05\.678 INFO {2}orchestrator ready port=7070 note="two words" at=\{"a":1\}\n$/);
});

it("keeps an entry with line ends in it on one line, and an error's stack out", () => {
  const err = { type: "Error", message: "lost\nit", stack: "Error: lost\n at x" };
  const line = prettyLine(JSON.stringify({ ...entry, level: "error", msg: "a\nb", err }));
  expect(line).toMatch(/ERROR orchestrator a\\nb error="lost\\nit"\n$/);
});

it("shows the stack of what ends the process", () => {
  const err = { message: "lost", stack: "Error: lost\n    at x" };
  expect(prettyLine(JSON.stringify({ ...entry, level: "fatal", err }))).toContain("\nError: lost\n    at x\n");
});
