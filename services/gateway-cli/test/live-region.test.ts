import fc from "fast-check";
import { expect, test } from "vitest";
import { cellRows } from "../src/cell-rows.js";
import { LiveRegion, type RegionContent } from "../src/live-region.js";
import { Screen } from "./screen.js";

const COLUMNS = 20;
const ROWS = 8;

/** A region as the view makes one: a preview cut to what fits, and an input line. */
function content(preview: string, input: string, columns = COLUMNS): RegionContent {
  const { rows, mark } = cellRows(`> ${input}`, columns, 2 + input.length);
  const above = preview === "" ? [] : cellRows(preview, columns).rows.slice(-(ROWS - 1 - rows.length));
  return { rows: [...above, ...rows], cursor: { row: above.length + mark.row, column: mark.column } };
}

const piece = fc.constantFrom("word ", "你好", "🎉", "👨‍👩‍👧‍👦", "é", "\n", "\t", "x");
const text = fc.array(piece, { maxLength: 60 }).map((parts) => parts.join(""));
const line = fc.array(fc.constantFrom("ab", "你", "🎉", " "), { maxLength: 9 }).map((parts) => `-${parts.join("")}.`);

test("R1 R3: however previews grow, shrink and wrap, only what was final is left above the input", async () => {
  const frames = fc.array(fc.record({ above: fc.option(line, { nil: "" }), preview: text }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(frames, async (all) => {
      const screen = new Screen(COLUMNS, ROWS);
      const region = new LiveRegion();
      for (const { above, preview } of all) await screen.write(region.frame(above, content(preview, "in"), COLUMNS));
      await screen.write(region.frame("", content("", "in"), COLUMNS));
      const finals = all.map(({ above }) => above).filter((above) => above !== "");
      expect(screen.text).toBe([...finals, "> in"].join("\n"));
    }),
    { numRuns: 60 },
  );
});

test("R1: a terminal that counts an emoji wider than we do folds no row", async () => {
  const screen = new Screen(COLUMNS, ROWS);
  const region = new LiveRegion();
  // This emulator takes eight cells for the family, so twenty of our cells are eighty of its own.
  await screen.write(region.frame("kept", content("👨‍👩‍👧‍👦".repeat(10), "in"), COLUMNS));
  await screen.write(region.frame("also kept", content("", "in"), COLUMNS));
  expect(screen.rows.slice(0, 3)).toEqual(["kept", "also kept", "> in"]);
  expect(screen.text).toBe("kept\nalso kept\n> in");
});

test("a terminal made narrower folds the rows, and they are taken away all the same", async () => {
  const screen = new Screen(COLUMNS, ROWS);
  const region = new LiveRegion();
  await screen.write(region.frame("kept", content("a preview of twenty…", "in"), COLUMNS));
  screen.resize(10, ROWS);
  await screen.write(region.frame("", content("", "in", 10), 10));
  expect(screen.text).toBe("kept\n> in");
});

test("the cursor stands in the input line, and clearing leaves the history alone", async () => {
  const screen = new Screen(COLUMNS, ROWS);
  const region = new LiveRegion();
  await screen.write(region.frame("kept", content("preview", "in"), COLUMNS));
  expect(screen.cursor).toEqual({ row: 2, column: 4 });
  await screen.write(region.clear(COLUMNS));
  expect(screen.text).toBe("kept");
});
