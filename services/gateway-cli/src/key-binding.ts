import type { LineBuffer } from "./line-buffer.js";

/** What Node's keypress events say about a key. */
export interface Key {
  readonly name?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
}

/** What a key asks for beyond editing the line. */
export type KeyAction = "submit" | "interrupt" | "leave" | "redraw" | undefined;

const PLAIN: Readonly<Record<string, (line: LineBuffer) => void>> = {
  backspace: (line) => line.deleteLeft(),
  delete: (line) => line.deleteRight(),
  left: (line) => line.left(),
  right: (line) => line.right(),
  up: (line) => line.up(),
  down: (line) => line.down(),
  home: (line) => line.home(),
  end: (line) => line.end(),
  enter: (line) => line.insert("\n"), // Ctrl-J; the Enter key is "return".
  tab: (line) => line.insert("\t"),
};
const CONTROL: Readonly<Record<string, (line: LineBuffer) => void>> = {
  a: (line) => line.home(),
  b: (line) => line.left(),
  e: (line) => line.end(),
  f: (line) => line.right(),
  h: (line) => line.deleteLeft(),
  k: (line) => line.killToEnd(),
  n: (line) => line.down(),
  p: (line) => line.up(),
  u: (line) => line.killToStart(),
  w: (line) => line.killWordLeft(),
  y: (line) => line.yank(),
  left: (line) => line.wordLeft(),
  right: (line) => line.wordRight(),
};
const META: Readonly<Record<string, (line: LineBuffer) => void>> = {
  b: (line) => line.wordLeft(),
  f: (line) => line.wordRight(),
  left: (line) => line.wordLeft(),
  right: (line) => line.wordRight(),
  backspace: (line) => line.killWordLeft(),
  return: (line) => line.insert("\n"),
  enter: (line) => line.insert("\n"),
};

/** Applies a key to the line; `text` is what it types, if it types anything. */
export function pressKey(line: LineBuffer, text: string | undefined, key: Key): KeyAction {
  const name = key.name ?? "";
  if (key.ctrl === true) {
    if (name === "c") return "interrupt";
    if (name === "l") return "redraw";
    if (name === "d" && line.text === "") return "leave";
    if (name === "d") line.deleteRight();
    CONTROL[name]?.(line);
    return undefined;
  }
  if (key.meta === true) {
    META[name]?.(line);
    return undefined;
  }
  if (name === "return") return endLine(line);
  const edit = PLAIN[name];
  if (edit !== undefined) edit(line);
  else if (text !== undefined && !/\p{Cc}/u.test(text)) line.insert(text);
  return undefined;
}

/** Enter sends, unless the text before the end is a backslash: then it becomes a line break. */
function endLine(line: LineBuffer): KeyAction {
  const backslashes = /\\*$/.exec(line.text)?.[0].length ?? 0;
  if (line.cursor !== line.text.length || backslashes % 2 === 0) return "submit";
  line.deleteLeft();
  line.insert("\n");
  return undefined;
}
