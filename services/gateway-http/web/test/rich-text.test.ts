import { describe, expect, it } from "vitest";
import { inlines, richBlocks } from "../src/rich-text.js";

describe("richBlocks", () => {
  it("leaves text the text that it was", () => {
    const text = "<b>not</b> HTML,\nand a second line";
    expect(richBlocks(text)).toEqual([{ kind: "paragraph", text }]);
  });

  it("keeps what stands in a fence as it stands", () => {
    expect(richBlocks("a\n```ts\n# no heading\n\n- no item\n```\nb")).toEqual([
      { kind: "paragraph", text: "a" },
      { kind: "code", language: "ts", text: "# no heading\n\n- no item" },
      { kind: "paragraph", text: "b" },
    ]);
  });

  it("shows a fence that is still being written as code", () => {
    expect(richBlocks("```\nhalf a li")).toEqual([{ kind: "code", language: "", text: "half a li" }]);
  });

  it("ends a fence only with one as long as its start", () => {
    expect(richBlocks("````\n```\n````\nafter")).toEqual([
      { kind: "code", language: "", text: "```" },
      { kind: "paragraph", text: "after" },
    ]);
  });

  it("makes one list of items with blank lines between them", () => {
    expect(richBlocks("1. one\n\n2. two\n   goes on\n   - deep")).toEqual([
      {
        kind: "list",
        items: [
          { kind: "item", marker: "1.", text: "one", depth: 0 },
          { kind: "item", marker: "2.", text: "two\ngoes on", depth: 0 },
          { kind: "item", marker: "•", text: "deep", depth: 1 },
        ],
      },
    ]);
  });

  it("reads a table only when it has a head", () => {
    expect(richBlocks("| a | b \\| c |\n|---|---:|\n| 1 | 2 |")).toEqual([
      {
        kind: "table",
        rows: [
          ["a", "b | c"],
          ["1", "2"],
        ],
        numeric: [false, true],
      },
    ]);
    expect(richBlocks("| a |\n| b |")).toEqual([{ kind: "paragraph", text: "| a |\n| b |" }]);
  });

  it("reads a long text that never closes anything in no time", () => {
    const startedAt = performance.now();
    for (const piece of ["`", "**a", "```\n", "| ", "https://", "- ", "> ", "* * "]) {
      for (const block of richBlocks(piece.repeat(20_000))) if ("text" in block) inlines(block.text);
    }
    expect(performance.now() - startedAt).toBeLessThan(15_000);
  });
});

describe("inlines", () => {
  it("finds code, strong words and addresses, and nothing else", () => {
    expect(inlines("a `b` **c** <i>d</i> 2 * 3 * 4")).toEqual([
      { kind: "text", text: "a " },
      { kind: "code", text: "b" },
      { kind: "text", text: " " },
      { kind: "strong", text: "c" },
      { kind: "text", text: " <i>d</i> 2 * 3 * 4" },
    ]);
  });

  it.each([
    ["see https://a.example/b.", "https://a.example/b"],
    ["(https://a.example/b)", "https://a.example/b"],
    ["https://a.example/b_(c), d", "https://a.example/b_(c)"],
  ])("takes the address out of %j", (text, href) => {
    expect(inlines(text)).toContainEqual({ kind: "link", text: href, href });
    expect(
      inlines(text)
        .map((part) => part.text)
        .join(""),
    ).toBe(text);
  });

  it.each(["javascript:alert(1)", "data:text/html,x", "[x](javascript:alert(1))", "http:alert"])(
    "makes no link of %j",
    (text) => {
      expect(inlines(text)).toEqual([{ kind: "text", text }]);
    },
  );
});
