import { describe, expect, test } from "vitest";
import { readChatRequest } from "../src/chat-request.js";
import { chooseScript } from "../src/script.js";

const scriptFor = (messages: readonly unknown[], tools: readonly string[] = []) =>
  chooseScript(
    readChatRequest(
      JSON.stringify({
        model: "offline",
        messages,
        tools: tools.map((name) => ({ function: { name } })),
      }),
    ),
  );
const user = (content: string) => ({ role: "user", content });
const textFor = (...args: Parameters<typeof scriptFor>): string => {
  const script = scriptFor(...args);
  return script.kind === "text" ? script.text : JSON.stringify(script);
};

describe("the offline model", () => {
  test("says what it is, what was asked and how to use a real model", () => {
    const text = textFor([user("Will it rain?")]);
    for (const part of ["offline model", "Will it rain?", "OPENAI_API_KEY", "OPENAI_BASE_URL", "TROUPE_MODEL"]) {
      expect(text).toContain(part);
    }
  });

  test("does not greet twice, and still says what it is", () => {
    const text = textFor([user("hi"), { role: "assistant", content: "Hello!" }, user("and now?")]);
    expect(text).not.toMatch(/^Hello/);
    expect(text).toContain("offline model");
    expect(text).toContain("and now?");
  });

  test("answers the same request in the same way", () => {
    expect(textFor([user("hi")])).toBe(textFor([user("hi")]));
  });

  test("keeps a long question short and whole characters whole", () => {
    const text = textFor([user("🙂".repeat(5_000))]);
    expect(text.length).toBeLessThan(1_500);
    expect(text.isWellFormed()).toBe(true);
  });

  test("every word that it suggests does what it says", () => {
    const suggested = [...textFor([user("hi")]).matchAll(/“([^”]+)”/g)].map((found) => found[1] ?? "").slice(1);
    expect(suggested).toEqual(["what time is it", "echo hello", "tell me a story", "fail"]);
    const kinds = suggested.map((words) => {
      const script = scriptFor([user(words)], ["now", "echo"]);
      return script.kind === "text" ? script.spreadMs > 0 : script.kind;
    });
    expect(kinds).toEqual(["call", "call", true, "failure"]);
  });

  test.each([["What time is it?"], ["what's the time"], ["Tell me: what is the time?"]])("%s calls now", (words) => {
    expect(scriptFor([user(words)], ["now"])).toMatchObject({
      kind: "call",
      name: "now",
      arguments: {},
    });
    expect(textFor([user(words)])).toContain("no tool that tells the time");
  });

  test("echo keeps the text as it was written", () => {
    const script = scriptFor([user("Echo  Hé\n“you”! ")], ["echo"]);
    expect(script).toMatchObject({ kind: "call", name: "echo", arguments: { text: "Hé\n“you”!" } });
    expect(textFor([user("echo this")])).toContain("this");
  });

  test("talk about failing is no wish to fail", () => {
    expect(scriptFor([user("why did the test fail?")]).kind).toBe("text");
  });

  test("reports what the tools answered, and calls no more", () => {
    const messages = [
      user("what time is it"),
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "a", type: "function", function: { name: "now", arguments: "{}" } },
          { id: "b", type: "function", function: { name: "echo", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: "a", content: "2026-01-01T12:00:00Z" },
      { role: "tool", tool_call_id: "b", content: "pong" },
    ];
    const text = textFor(messages, ["now", "echo"]);
    expect(text).toContain("It is 2026-01-01T12:00:00Z.");
    expect(text).toContain("The tool echo answered: pong");
    expect(text).toMatch(/offline model/i);
  });

  test("gives each call of a conversation an id of its own", () => {
    const first = scriptFor([user("echo a")], ["echo"]);
    const later = scriptFor([user("echo a"), { role: "assistant", content: "x" }, user("echo a")], ["echo"]);
    expect(first.kind === "call" && later.kind === "call" && first.id !== later.id).toBe(true);
  });
});
