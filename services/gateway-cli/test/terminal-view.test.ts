import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TerminalView } from "../src/terminal-view.js";
import { eventually } from "./eventually.js";
import { Screen } from "./screen.js";

const COLUMNS = 30;
const ROWS = 10;

let screen: Screen;
let keys: PassThrough;
let view: TerminalView;
let sent: string[];
let events: string[];
let raw: boolean[];

beforeEach(() => {
  screen = new Screen(COLUMNS, ROWS);
  sent = [];
  events = [];
  raw = [];
  const output = Object.assign(new PassThrough(), { columns: COLUMNS, rows: ROWS });
  output.on("data", (bytes: Buffer) => void screen.write(bytes.toString()));
  keys = new PassThrough();
  const input = Object.assign(keys, { setRawMode: (mode: boolean) => raw.push(mode) });
  view = new TerminalView(
    { input: input as never, output: output as never },
    {
      submit: (text) => void sent.push(text),
      interrupt: () => void events.push("interrupt"),
      leave: () => void events.push("leave"),
    },
  );
  view.open();
});

afterEach(() => view.close());

const shows = (text: string): Promise<void> => eventually(() => expect(screen.text).toBe(text));

test("R2: a preview higher than the terminal leaves nothing behind when the final text replaces it", async () => {
  view.preview(`${"你好世界🎉 ".repeat(40)}\nend`);
  view.status("working");
  await eventually(() => expect(screen.text).toContain("end\nworking\n›"));
  view.preview("");
  view.status("");
  const answer = `first line\n${"long ".repeat(80)}last`;
  view.answer(answer);
  await shows(`${answer}\n\n›`);
});

test("what is typed while an answer streams is kept, and sent as written", async () => {
  keys.write("hel");
  view.preview("an answer\nin two lines");
  await shows("an answer\nin two lines\n› hel");
  keys.write("lo\r");
  await eventually(() => expect(sent).toEqual(["hello"]));
  await shows("› hello\nan answer\nin two lines\n›");
});

test("a text longer than the terminal shows the part around the cursor", async () => {
  keys.write(`${"0123456789".repeat(30)}end`);
  await eventually(() => expect(screen.text).toMatch(/end$/));
  keys.write("\u0001");
  await eventually(() => expect(screen.text).toMatch(/^› 0123456789/));
  expect(screen.cursor).toEqual({ row: 0, column: 2 });
});

test("pasted lines are one message, sent by Enter", async () => {
  keys.write("\u001b[200~one\r\ttwo\r\nthree\u0003\n\u001b[201~");
  await eventually(() => expect(screen.text).toContain("three"));
  expect(sent).toEqual([]);
  keys.write("\r");
  await eventually(() => expect(sent).toEqual(["one\n\ttwo\nthree␃\n"]));
  expect(events).toEqual([]);
});

test("untrusted text moves no cursor and changes no colour", async () => {
  view.answer("a\u001b[2J\u001b[1;1Hb");
  view.note("title\u001b]0;owned\u0007", "quiet");
  view.status("c\rd");
  await shows("a␛[2J␛[1;1Hb\n\ntitle␛]0;owned␇\nc␍d\n›");
});

test("Ctrl-C and Ctrl-D are passed on, and leaving puts the terminal back", async () => {
  keys.write("\u0003\u0004");
  await eventually(() => expect(events).toEqual(["interrupt", "leave"]));
  view.note("bye", "quiet");
  view.close();
  await shows("bye");
  expect(raw).toEqual([true, false]);
});
