import fc from "fast-check";
import { expect, test } from "vitest";
import { cellRows, cells, stepOver } from "../src/cell-rows.js";

const text = fc
  .array(fc.constantFrom("a", "bc ", "你", "好", "🎉", "👨‍👩‍👧‍👦", "🇩🇪", "é", "\n", "\t", "ก็", "long-word-here"))
  .map((parts) => parts.join(""));

test("no row is wider than the terminal, and no character is lost or cut", () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 4, max: 40 }), (value, columns) => {
      const { rows } = cellRows(value, columns);
      for (const row of rows) expect(cells(row)).toBeLessThanOrEqual(columns);
      expect(rows.join("").replace(/ /g, "")).toBe(value.replace(/[\n\t ]/g, ""));
    }),
  );
});

test("a character of two cells moves to the next row whole", () => {
  expect(cellRows("abc你", 4).rows).toEqual(["abc", "你"]);
  expect(cellRows("ab👨‍👩‍👧‍👦c", 4)).toEqual({ rows: ["ab👨‍👩‍👧‍👦", "c"], mark: { row: 1, column: 1 } });
});

test("the cursor stands where the next character would be written", () => {
  expect(cellRows("", 10, 0).mark).toEqual({ row: 0, column: 0 });
  expect(cellRows("ab\ncd", 10, 2).mark).toEqual({ row: 0, column: 2 });
  expect(cellRows("ab\ncd", 10, 3).mark).toEqual({ row: 1, column: 0 });
  expect(cellRows("abcd", 4, 4)).toEqual({ rows: ["abcd", ""], mark: { row: 1, column: 0 } });
  expect(cellRows("abcd", 4).rows).toEqual(["abcd"]);
  expect(cellRows("你好x", 10, 1).mark).toEqual({ row: 0, column: 2 });
});

test("a step goes over what a person counts as one character", () => {
  const family = "a👨‍👩‍👧‍👦b";
  expect(stepOver(family, 1, 1)).toBe(family.length - 1);
  expect(stepOver(family, family.length - 1, -1)).toBe(1);
  expect(stepOver("ab", 0, -1)).toBe(0);
  expect(stepOver("ab", 2, 1)).toBe(2);
});
