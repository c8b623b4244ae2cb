import { describe, expect, test } from "vitest";
import { cleanText } from "../src/index.js";
import cases from "./fixtures/reasoning.json" with { type: "json" };
import { livePreview } from "./live-preview.js";

const collapsed = (text: string) => text.replace(/\s+/g, " ").trim();

describe.each(cases)("$name", ({ chunks, visible, ...more }) => {
  const whole = chunks.join("");

  function check(split: readonly string[]) {
    const live = livePreview(split);
    expect(collapsed(live.text), JSON.stringify(split)).toBe(collapsed(visible));
    for (const delta of live.deltas) expect(collapsed(visible)).toContain(collapsed(delta));
    if ("onlyReasoning" in more) expect(live).toMatchObject({ text: "", deltas: [], hadReasoning: true });
  }

  test("R1 as streamed, and as a whole", () => {
    check(chunks);
    check([whole]);
    expect(collapsed(cleanText(whole).visible)).toBe(collapsed(visible));
  });

  test("R1 one character at a time", () => {
    check(whole.split(""));
  });

  test("R1 a chunk border at every position", () => {
    for (let at = 0; at <= whole.length; at++) check([whole.slice(0, at), whole.slice(at)]);
  });

  test("R1 two chunk borders at every pair of positions", () => {
    for (let a = 0; a <= whole.length; a++) {
      for (let b = a; b <= whole.length; b++) check([whole.slice(0, a), whole.slice(a, b), whole.slice(b)]);
    }
  });

  test("R5 filtering twice is filtering once", () => {
    const once = cleanText(whole).visible;
    expect(cleanText(once).visible).toBe(once);
  });
});
