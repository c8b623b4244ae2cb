import { expect, test } from "vitest";
import { pressKey } from "../src/key-binding.js";
import { LineBuffer } from "../src/line-buffer.js";

function typed(text: string): LineBuffer {
  const line = new LineBuffer();
  line.insert(text);
  return line;
}

/** The text with a bar where the cursor is. */
function shown(line: LineBuffer): string {
  return `${line.text.slice(0, line.cursor)}|${line.text.slice(line.cursor)}`;
}

test("deletes and moves by whole characters", () => {
  const line = typed("a👨‍👩‍👧‍👦é");
  line.left();
  line.deleteLeft();
  expect(shown(line)).toBe("a|é");
  line.deleteRight();
  expect(shown(line)).toBe("a|");
});

test("moves by words and kills them, in any script", () => {
  const line = typed("one zwei, три");
  line.wordLeft();
  expect(shown(line)).toBe("one zwei, |три");
  line.killWordLeft();
  expect(shown(line)).toBe("one |три");
  line.killToEnd();
  line.yank();
  expect(shown(line)).toBe("one три|");
});

test("home, end, up and down stay within lines, also when lines are empty", () => {
  const line = typed("\nab\nc");
  line.up();
  expect(shown(line)).toBe("\na|b\nc");
  line.home();
  line.up();
  expect(shown(line)).toBe("|\nab\nc");
  line.home();
  expect(shown(line)).toBe("|\nab\nc");
  line.down();
  line.end();
  expect(shown(line)).toBe("\nab|\nc");
  line.down();
  expect(shown(line)).toBe("\nab\nc|");
});

test("leafs through what was sent and comes back to what was being written", () => {
  const line = typed("first");
  line.take();
  line.insert("second");
  line.take();
  line.insert("draft");
  line.up();
  line.up();
  line.up();
  expect(line.text).toBe("first");
  line.down();
  expect(line.text).toBe("second");
  line.down();
  expect(shown(line)).toBe("draft|");
});

test("a backslash at the end breaks the line, two of them send it", () => {
  const line = typed("one\\");
  expect(pressKey(line, "\r", { name: "return" })).toBeUndefined();
  expect(shown(line)).toBe("one\n|");
  line.insert("two\\\\");
  expect(pressKey(line, "\r", { name: "return" })).toBe("submit");
});

test("Ctrl-D leaves only from an empty line", () => {
  const line = typed("x");
  expect(pressKey(line, "\u0004", { name: "d", ctrl: true })).toBeUndefined();
  line.deleteLeft();
  expect(pressKey(line, "\u0004", { name: "d", ctrl: true })).toBe("leave");
});
