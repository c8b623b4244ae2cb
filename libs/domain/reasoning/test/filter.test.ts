import { describe, expect, test } from "vitest";
import { cleanText, MAX_HELD, MAX_TAG, ReasoningFilter } from "../src/index.js";
import { livePreview } from "./live-preview.js";

/** Checks the whole text, and the live text for a border at every position and for single characters. */
function expectVisible(whole: string, visible: string): void {
  expect(cleanText(whole).visible).toBe(visible);
  expect(livePreview(whole.split("")).text).toBe(visible);
  for (let at = 0; at <= whole.length; at++) {
    expect(livePreview([whole.slice(0, at), whole.slice(at)]).text, `border at ${at}`).toBe(visible);
  }
}

describe("R2 streaming", () => {
  const shownAtOnce = (text: string) => new ReasoningFilter().push(text).text;

  test.each([
    ["words are shown at once", "Hello there", "Hello there"],
    ["white space waits for what follows", "Hello \n", "Hello"],
    ["a possible tag waits", "Hello <thi", "Hello"],
    ["what cannot be a tag does not", "a < b, <b>", "a < b, <b>"],
    ["a possible vendor prefix waits", "a <deep", "a"],
    ["code spans are shown while open", "Use `npm i", "Use `npm i"],
    ["fences are shown with their tags", "```\n<think>x", "```\n<think>x"],
    ["a link is shown", "[text](url)", "[text](url)"],
    ["a tag in an open span waits for the end of it", "Use `<think>, a", "Use `"],
    ["a quoted tag waits for the closing mark", 'The "<think>', 'The "'],
  ])("%s", (_, chunk, shown) => {
    expect(shownAtOnce(chunk)).toBe(shown);
  });

  test("an orphan end resets once text had been shown", () => {
    const filter = new ReasoningFilter();
    expect(filter.push("2+2 is 4.")).toEqual({ text: "2+2 is 4.", reset: false });
    expect(filter.push("</think>\n\nIt is")).toEqual({ text: "It is", reset: true });
    expect(filter.push(" 4.")).toEqual({ text: " 4.", reset: false });
    expect(filter.end()).toEqual({ text: "", reset: false });
    expect(filter.hadReasoning).toBe(true);
  });

  test("nothing is to be reset if nothing had been shown", () => {
    const filter = new ReasoningFilter();
    expect(filter.push("2+2 is 4.</think>It is 4.")).toEqual({ text: "It is 4.", reset: false });
  });

  test("end decides what was kept back", () => {
    const filter = new ReasoningFilter();
    filter.push("3 <t");
    expect(filter.end()).toEqual({ text: " <t", reset: false });
  });
});

describe("R3 what is hidden", () => {
  test.each([
    ["several orphan ends: the last one counts", "a</think>b</think>c", "c"],
    ["an orphan end without reasoning", "</think>\n\nHi", "Hi"],
    ["mixed-up names end the block", "<think>a</thinking>b", "b"],
    ["an inner tag of another name need not be ended", "<think>a <reasoning> b</think>c", "c"],
    ["another name nested properly", "<think>a<reasoning>b</reasoning>c</think>d", "d"],
    ["a line break in the tag", '<think\n depth="2">x</think\n>y', "y"],
    ["an attribute without value", "<think hidden>x</think>y", "y"],
    ["spaces before the name", "< think >x</ think >y", "y"],
    ["Seed", "<seed:think>a</seed:think>b", "b"],
    ["Mistral", "[THINK]a[/THINK]b", "b"],
    ["Kimi", "◁think▷a◁/think▷b", "b"],
    ["Command", "<|START_THINKING|>a<|END_THINKING|>b", "b"],
    ["tokens of thought", "<|begin_of_thought|>a<|end_of_thought|>b", "b"],
    ["bars", "<|thinking|>a<|/thinking|>b", "b"],
    ["Gemma", "<|channel>thought\na<channel|>b", "b"],
    [
      "Harmony",
      "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>analysis<|message|>b<|end|>" +
        "<|start|>assistant<|channel|>final<|message|>c<|return|>",
      "c",
    ],
    ["an empty block", "<think>\n\n</think>\n\nHi", "Hi"],
  ])("%s", (_, whole, visible) => {
    expectVisible(whole, visible);
    expect(cleanText(whole).hadReasoning).toBe(true);
  });

  test.each([
    "<thinker>x</thinker> <rethink> <think-tank> <analysis>x</analysis>",
    "&lt;think&gt;x&lt;/think&gt;",
    "<think about it, then act> and <think!>",
    "[think](https://example.org) [Think] [THINKING]",
    "a <think",
    "<<>> </> < > <|> <||> [] [/ <|im_start|> ◁ ▷",
  ])("not a tag: %s", (whole) => {
    expectVisible(whole, whole);
    expect(cleanText(whole).hadReasoning).toBe(false);
  });
});

describe("R4 literal tags", () => {
  test.each([
    ["span of two backticks", "Use ``a ` <think>`` now"],
    ["span over a line break", "Use `a\n<think>` now"],
    ["span behind a run without end", "A `` and `<think>` now"],
    ["long fence around a short one", "````\n```\n<think>\n```\n<think>\n````\nend"],
    ["tildes with an info string", "~~~ xml `a`\n<think>\n```\n</think>\n~~~\nend"],
    ["indented fence", "   ```\n<think>\n   ```\nend"],
    ["tag in the info string", "```<think>\nx\n```"],
    ["fence without end", "```\n<think>x"],
    ["fence in a list", "1. first:\n   - ```xml\n     <think>\n\n     </think>\n     ```\n2. second"],
    ["fence in a quote", "> ```\n> <think>\n>\n> </think>\n> ```\n"],
    ["double quotes", 'Write "<think>" and "</think>".'],
    ["single quotes", "Write '<think>' and '</think>'."],
    ["curly quotes", "Write “<think>” and ‘</think>’."],
    ["corner brackets", "标签「<think>」和『</think>』"],
    ["bracket tag", 'Write "[THINK]" or `[/THINK]`.'],
  ])("%s", (_, whole) => {
    expectVisible(whole, whole);
    expect(cleanText(whole).hadReasoning).toBe(false);
  });

  test.each([
    ["an apostrophe is no quotation", "I don't <think>x</think> know", "I don't know"],
    ["nor is an apostrophe next to the tag", "dogs'<think>x</think> tails", "dogs' tails"],
    [
      "a lone backtick does not reach over a paragraph",
      "A ` here.\n\n<think>x</think>B ` there.",
      "A ` here.\n\nB ` there.",
    ],
    ["nor if the paragraph ends in the block", "A ` here <think>x\n\ny</think> z", "A ` here z"],
    ["nor to the end of the text", "A ` here <think>x", "A ` here"],
    ["nor into the next list item", "- a ` b\n- c <think>x</think> d ` e", "- a ` b\n- c d ` e"],
    ["an escaped backtick opens nothing", "A \\` b <think>x</think> c ` d", "A \\` b c ` d"],
    ["a line that is no fence closes a span", "a```js\n```<think>x</think> b ` c", "a```js\n``` b ` c"],
    ["a fence ends the paragraph", "A ` b <think>x\n```\n`</think> c", "A ` b c"],
    ["behind a fence", "```\na\n```\n<think>x</think>b", "```\na\n```\nb"],
    ["a shorter run does not close", "````\n```\n````\n<think>x</think>b", "````\n```\n````\nb"],
    ["a quotation closed by something else", '"<think>x</think>y"', '"y"'],
    ["reasoning that quotes its end", '<think>write `</think>` or "</think>"</think>a', "a"],
    ["reasoning with a fence left open", "<think>```js\nlet a</think>b", "b"],
    ["reasoning with an example", "<think>```\n<think>demo</think>\n```\nx</think>b", "b"],
    ["a closing quote before an end", '<think>say "hi"</think>"Hello" it is', '"Hello" it is'],
  ])("%s", (_, whole, visible) => {
    expectVisible(whole, visible);
  });
});

describe("R5 removal makes no tags", () => {
  test.each([
    ["open", "<thi<think>x</think>nk>secret", ""],
    ["end", "secret</thi<think/>nk>a", "secreta"],
    ["two deep", "a<th<th<think/>ink/>ink>secret", "a"],
    ["bracket in tag", "a<th[THINK]x[/THINK]ink>secret", "a"],
    ["a token", "a[TH<think/>INK]secret", "a"],
    ["behind an open run of backticks", "` a<thi<think/>nk>secret", "` a"],
    ["the rest is no tag", "a<thi<think>x</think>ng", "a<thing"],
  ])("%s", (_, whole, visible) => {
    expectVisible(whole, visible);
    expect(cleanText(visible).visible).toBe(visible);
  });
});

describe("R6 white space", () => {
  test.each([
    ["one gap between words", "a <think>x</think> b", "a b"],
    ["the wider gap wins", "a <think>x</think>\n\nb", "a\n\nb"],
    ["also the one before", "a\n\n<think>x</think>\nb", "a\n\nb"],
    ["no gap, none made", "a<think>x</think>b", "ab"],
    ["at the start", " \n<think>x</think>\n\n  b", "b"],
    ["at the end", "a\n\n<think>x</think>\n", "a"],
    ["indentation stays", "a\n<think>x</think>\n\n    code", "a\n\n    code"],
    ["several blocks", "<think>x</think>\n<think>y</think>\na\n<think/>\n<think/>\nb", "a\nb"],
  ])("%s", (_, whole, visible) => {
    expectVisible(whole, visible);
  });
});

describe("R7 bounds", () => {
  test("a tag longer than the bound is text", () => {
    const whole = `<think ${"a ".repeat(MAX_TAG)}>x`;
    expectVisible(whole, whole);
  });

  test("a tag that stays undecided for too long is a tag", () => {
    expect(cleanText(`a \`<think>${"word ".repeat(MAX_HELD)}\` b`).visible).toBe("a `");
  });
});
