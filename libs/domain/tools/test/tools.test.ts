import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { echo, excerptOf, MAX_RESULT_LENGTH, now, readBlob, shortened, Toolbox, type ToolWorld } from "../src/index.js";

const box = new Toolbox([now, echo, readBlob]);
const world: ToolWorld = {
  now: Date.UTC(2026, 0, 2),
  signal: new AbortController().signal,
  readBlob: () => Promise.resolve(undefined),
};

describe("a call is checked before it runs", () => {
  test.each([
    ["echo", '{"text":"a"}', true, ""],
    ["now", "", true, ""],
    ["now", "{}", true, ""],
    ["echo", "{}", false, "text"],
    ["echo", '{"text":1}', false, "text"],
    ["echo", '{"text":"a","more":1}', false, "more"],
    ["echo", '"a"', false, "JSON object"],
    ["echo", "[]", false, "JSON object"],
    ["echo", '{"text": "a', false, '{"text": "a'],
    ["nonsense", "{}", false, "echo"],
  ])("%s %s", (name, args, ok, says) => {
    const checked = box.check(name, args);
    expect(checked.ok).toBe(ok);
    expect(checked.ok ? "" : checked.problem).toContain(says);
  });
});

test("tools do what they say", async () => {
  expect(await box.run("now", "{}", world)).toEqual({ content: "2026-01-02T00:00:00.000Z", isError: false });
  expect(await box.run("echo", '{"text":"中😀"}', world)).toEqual({ content: "中😀", isError: false });
  expect(await box.run("read_blob", '{"blob":"b"}', world)).toMatchObject({ isError: true });
});

test("the model is told names, descriptions and JSON Schemas", () => {
  expect(box.specs.map((spec) => spec.name)).toEqual(["now", "echo", "read_blob"]);
  expect(box.specs[1]?.parameters).toMatchObject({ type: "object", required: ["text"], additionalProperties: false });
});

test("X1, X2: pieces end between graphemes, make progress, and put together are the text", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "中", "😀", "👩‍👩‍👧‍👦", "e\u0301", "\r\n", "🇩🇪"),
    maxLength: 60,
  });
  const segmenter = new Intl.Segmenter("und", { granularity: "grapheme" });
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 40 }), (whole, limit) => {
      const borders = new Set([...segmenter.segment(whole)].map((segment) => segment.index));
      let joined = "";
      for (let from = 0; from < whole.length; ) {
        const piece = excerptOf(whole, from, limit);
        expect(piece.next).toBeGreaterThan(from);
        const isOneGrapheme = [...segmenter.segment(piece.text)].length === 1;
        expect(piece.text.length <= limit || isOneGrapheme).toBe(true);
        if (piece.next < whole.length) expect(borders.has(piece.next)).toBe(true);
        joined += piece.text;
        from = piece.next;
      }
      expect(joined).toBe(whole);
    }),
  );
});

test("a long result is cut to the limit and says how to read on, and reading on gives all of it", async () => {
  const whole = Array.from({ length: 9_000 }, (_, i) => `line ${i}\n`).join("");
  const cut = shortened(whole, "b1");
  expect(cut.length).toBeLessThanOrEqual(MAX_RESULT_LENGTH);
  const first = /offset":(\d+)/.exec(cut);
  let offset = Number(first?.[1]);
  let read = cut.slice(0, cut.lastIndexOf("\n[Cut"));
  const blobs: ToolWorld = { ...world, readBlob: (name) => Promise.resolve(name === "b1" ? whole : undefined) };
  for (let i = 0; i < 20 && read.length < whole.length; i++) {
    const { content } = await box.run("read_blob", JSON.stringify({ blob: "b1", offset }), blobs);
    expect(content.length).toBeLessThanOrEqual(MAX_RESULT_LENGTH);
    const more = /\n\[Characters \d+ to (\d+) of \d+; read on at offset \d+\.\]$/.exec(content);
    read += more === null ? content : content.slice(0, more.index);
    offset = Number(more?.[1] ?? whole.length);
  }
  expect(read).toBe(whole);
});
