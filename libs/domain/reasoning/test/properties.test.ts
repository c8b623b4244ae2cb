import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cleanText } from "../src/index.js";
import { livePreview } from "./live-preview.js";

/** Pieces from which texts are made that are full of tags, near-tags and literal contexts. */
const PIECES = [
  "<think>",
  "</think>",
  "<think/>",
  "<thinking a='1'>",
  "</thinking >",
  "<Reasoning>",
  "</REASONING>",
  "<seed:think>",
  "</seed:think>",
  "[THINK]",
  "[/THINK]",
  "◁think▷",
  "◁/think▷",
  "<|channel|>analysis",
  "<|channel|>final",
  "<|message|>",
  "<channel|>",
  "<th",
  "ink>",
  "<",
  ">",
  "/",
  "</",
  "[",
  "[TH",
  "<|",
  "◁",
  "<think ",
  '<think a="[THINK]',
  "think>",
  "INK]",
  "`",
  "``",
  "```",
  "````",
  "~~~",
  "~",
  "\\",
  "\n",
  "\n\n",
  "\n```\n",
  "```js\n",
  "\n~~~\n",
  " ",
  "  ",
  "    ",
  "\t",
  "- ",
  "1. ",
  "> ",
  '"',
  "'",
  "“",
  "”",
  "「",
  "」",
  "a",
  "secret",
  "answer. ",
  "don't ",
  "é",
  "中文",
  "🙂",
];

/** Fewer of them and longer texts, for what waits within what waits. */
const DENSE_PIECES = '<think> </think> <think/> <th ink> / [TH INK] ` `` ``` - a "'
  .split(" ")
  .concat(" ", "\n", "\n\n", "\n```");

const text = fc
  .oneof(
    fc.array(fc.constantFrom(...PIECES), { maxLength: 24 }),
    fc.array(fc.constantFrom(...DENSE_PIECES), { maxLength: 60 }),
  )
  .map((pieces) => pieces.join(""));
const splitText = fc
  .tuple(text, fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 }))
  .map(([whole, borders]) => {
    const at = [0, ...borders.map((b) => Math.floor(b * whole.length)).sort((a, b) => a - b), whole.length];
    return { whole, chunks: at.slice(1).map((end, i) => whole.slice(at[i], end)) };
  });
const runs = { numRuns: 5_000 };

describe("any text", () => {
  test("R1 live text after the last reset is the clean text, character for character", () => {
    fc.assert(
      fc.property(splitText, ({ whole, chunks }) => {
        const clean = cleanText(whole);
        for (const split of [chunks, whole.split("")]) {
          const live = livePreview(split);
          expect(live.text).toBe(clean.visible);
          expect(live.hadReasoning).toBe(clean.hadReasoning);
        }
      }),
      runs,
    );
  }, 60_000);

  test("R2 a preview is thrown away only if text had been shown, and only without an opening before", () => {
    fc.assert(
      fc.property(splitText, ({ whole, chunks }) => {
        const live = livePreview(chunks);
        for (const preview of live.discarded) expect(preview).not.toBe("");
        if (live.discarded.length > 0) expect(whole).toMatch(/<\/|\[\/|◁\/|l\|>|<channel\|>/);
      }),
      runs,
    );
  }, 60_000);

  test("R5 filtering twice is filtering once", () => {
    fc.assert(
      fc.property(text, (whole) => {
        const once = cleanText(whole).visible;
        // A removal that joins two runs of backticks makes another code span of them: nothing is claimed then.
        const lengths = (of: string) => new Set((of.match(/`+/g) ?? []).map((run) => run.length));
        const before = lengths(whole);
        fc.pre([...lengths(once)].every((length) => before.has(length)));
        expect(cleanText(once).visible).toBe(once);
      }),
      { numRuns: 10_000 },
    );
  }, 60_000);

  test("R6 text without any of <, [ and ◁ stays as it is", () => {
    const plain = fc.oneof(fc.string({ unit: "binary" }), text).map((whole) => whole.replace(/[<[◁]/g, ""));
    fc.assert(
      fc.property(plain, (whole) => {
        expect(cleanText(whole)).toEqual({ visible: whole, hadReasoning: false });
        expect(livePreview(whole.split("")).text).toBe(whole);
      }),
      runs,
    );
  }, 60_000);

  test("R3 nothing that stands in a block between plain words is shown", () => {
    const words = fc.array(fc.constantFrom("alpha", " ", "\n", "\n\n", "beta. ", "x < y "), { maxLength: 8 });
    const hidden = text.map((inner) => inner.replace(/[<>[\]◁▷|/"'`“”「」~]/g, "") + "SECRET");
    fc.assert(
      fc.property(words, hidden, words, (before, inner, after) => {
        const whole = `${before.join("")}<think>${inner}</think>${after.join("")}`;
        const live = livePreview(whole.split(""));
        expect(live.text).not.toContain("SECRET");
        expect(live.text.replace(/\s/g, "")).toBe(`${before.join("")}${after.join("")}`.replace(/\s/g, ""));
        expect(live.discarded).toEqual([]);
      }),
      runs,
    );
  }, 60_000);
});
