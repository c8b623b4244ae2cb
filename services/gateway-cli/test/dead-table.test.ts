import { expect, test } from "vitest";
import { cells, cutTo } from "../src/cell-rows.js";
import { deadTable, retriedText } from "../src/dead-table.js";

const item = {
  id: "1234",
  kind: "mail",
  session: "http:一个很长的会话名称 with a tail",
  at: "2026-01-02T03:04:05.678Z",
  reason: "the body is not JSON,\nand 北京 \u001b[31mcomes after it".repeat(3),
  retryable: false,
};

test.each([60, 61, 80, 120, 300])("every line fits a terminal of %i columns, whatever was sent", (columns) => {
  const lines = deadTable({ dead: [item, { ...item, id: "7", session: null }], next: null, total: 2 }, columns).split(
    "\n",
  );
  expect(lines).toHaveLength(3);
  for (const line of lines) expect(cells(line)).toBeLessThanOrEqual(columns);
  expect(lines.join("")).not.toContain("\u001b");
});

test("where there is no terminal nothing is cut", () => {
  expect(deadTable({ dead: [item], next: null, total: 1 })).toContain(item.session);
});

test("a text is cut at a whole character", () => {
  expect(["abc", "abcd", "北京市", "é́x"].map((text) => cutTo(text, 3))).toEqual(["abc", "ab…", "北…", "é́x"]);
  expect([0, 1].map((columns) => cutTo("abc", columns))).toEqual(["", "…"]);
});

test("a retry says what it did", () => {
  const sent = { session: "http:a", outcome: "sent", turn: "t_1", duplicate: false };
  expect(retriedText("3", sent)).toBe("3: sent again, to be answered in http:a as turn t_1");
  expect(retriedText("3", { ...sent, duplicate: true, turn: null })).toBe("3: had been sent again already");
  expect(retriedText("3", { ...sent, outcome: "waiting", turn: null })).toMatch(/^3: not needed/);
});
