import fc from "fast-check";
import { expect, test } from "vitest";
import { sanitise, sanitiseLine } from "../src/sanitise.js";

const nasty = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "\u001b[31m",
        "\u001b]0;title\u0007",
        "\u009b2J",
        "\r",
        "\r\n",
        "\u2028",
        "\u202e",
        "\ud800",
        "\b",
        "\t\n",
      ),
    ),
  )
  .map((parts) => parts.join(""));

test("nothing that a terminal obeys survives, except line feeds and tabs", () => {
  fc.assert(
    fc.property(nasty, (text) => {
      const left = sanitise(text).replace(/[\n\t]/g, "");
      expect(left).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202d\u202e]/u);
      expect(sanitise(text).isWellFormed()).toBe(true);
    }),
  );
});

test("printable text is untouched, and cleaning twice is cleaning once", () => {
  fc.assert(
    fc.property(nasty, (text) => {
      const clean = sanitise(text);
      expect(sanitise(clean)).toBe(clean);
    }),
  );
  const text = "你好\tworld 👨‍👩‍👧‍👦\nعربي “quoted” <b>";
  expect(sanitise(text)).toBe(text);
});

test("what is neutralised stays visible", () => {
  expect(sanitise("a\u001b[2Jb\u0007c\u007fd\u009be")).toBe("a␛[2Jb␇c␡d\ufffde");
  expect(sanitise("one\r\ntwo\rthree")).toBe("one\ntwo␍three");
});

test("a line is one line", () => {
  fc.assert(fc.property(nasty, (text) => !/[\n\t\r]/.test(sanitiseLine(text))));
  expect(sanitiseLine(" a\r\n  b\tc ")).toBe("a b c");
});
