import type { LiveEvent } from "@troupe/contracts";
import { describe, expect, it } from "vitest";
import { AnswerPreview, answerText } from "../src/openai/answer-preview.js";
import { readChatRequest } from "../src/openai/chat-request.js";
import { chatAddress, sessionHeader } from "../src/openai/chat-session.js";
import { FreshSessions } from "../src/openai/fresh-sessions.js";

const chat = (change: Record<string, unknown> = {}) =>
  readChatRequest({ model: "troupe", messages: [{ role: "user", content: "hi" }], ...change }, ["troupe"]);

describe("readChatRequest", () => {
  it("has the same digest for the same messages only", () => {
    const other = { messages: [{ role: "user", content: "hi", name: "bob" }] };
    expect(chat().digest).toBe(chat({ temperature: 1, stream: true }).digest);
    expect(chat().digest).not.toBe(chat(other).digest);
  });

  it("ignores fields that have no counterpart, and unsupported ones that ask for nothing", () => {
    const request = chat({ temperature: 0.2, max_tokens: 5, tools: [], n: 1, response_format: { type: "text" } });
    expect(request).toMatchObject({ text: "hi", instructions: undefined, stream: false });
  });
});

describe("AnswerPreview", () => {
  const delta = (
    seq: number,
    text: string,
    more: { attempt?: number; epoch?: number; step?: number; turn?: string } = {},
  ): LiveEvent => {
    const { attempt = 1, epoch = 1, step = 1, turn = "t_1" } = more;
    return { v: 1, id: "l", kind: "delta", epoch, data: { turn, attempt, step, seq, text } };
  };
  const tool = (
    more: { seq?: number; attempt?: number; epoch?: number; status?: "started" | "done" } = {},
  ): LiveEvent => {
    const { epoch = 1, status = "started", ...count } = more;
    const data = { turn: "t_1", callId: "c", name: "now", status, summary: "now", ...count };
    return { v: 1, id: "l", kind: "tool", epoch, data };
  };
  const shown = (...events: LiveEvent[]) => {
    const preview = new AnswerPreview("t_1");
    const texts = events.map((event) => {
      preview.take(event);
      return preview.read();
    });
    return { text: texts.join(""), preview };
  };

  it.each<[string, LiveEvent[], string]>([
    ["an unbroken run", [delta(0, "a"), delta(1, "b")], "ab"],
    ["nothing of a run whose start was missed", [delta(1, "b"), delta(2, "c")], ""],
    ["nothing behind a doubled delta", [delta(0, "a"), delta(0, "a"), delta(1, "b")], "a"],
    ["nothing of a second attempt", [delta(0, "a", { attempt: 2 })], ""],
    ["nothing of another turn", [delta(0, "x", { turn: "t_2" }), delta(0, "a")], "a"],
    [
      "nothing of an owner that lost the turn",
      [delta(0, "a", { epoch: 2 }), delta(1, "x", { epoch: 1 }), delta(1, "b", { epoch: 2 })],
      "ab",
    ],
    ["nothing behind a tool of another attempt", [delta(0, "a"), tool({ attempt: 2, seq: 0 }), delta(1, "b")], "a"],
    ["steps as paragraphs", [delta(0, "a"), delta(1, "b", { step: 2 }), delta(2, "c", { step: 2 })], "a\n\nbc"],
  ])("shows %s", (_what, events, text) => {
    expect(shown(...events).text).toBe(text);
  });

  it("gives what is left of the answer, or null when it does not continue", () => {
    expect(shown(delta(0, "ab")).preview.rest("abc")).toBe("c");
    expect(shown(delta(0, "ab")).preview.rest("ab")).toBe("");
    expect(shown(delta(0, "ab")).preview.rest("xyz")).toBeNull();
    expect(shown().preview.rest("xyz")).toBe("xyz");
    expect(shown(delta(0, "ab"), delta(1, "x", { step: 2 })).preview.rest("xyz")).toBe("yz");
  });

  it.each<[string, LiveEvent[], string | null]>([
    ["counts them", [tool({ attempt: 1, seq: 1 }), tool({ attempt: 1, seq: 1, status: "done" })], "\n\nso"],
    ["counts them, before another owner goes on", [tool({ attempt: 1, seq: 1 }), tool({ epoch: 2 })], "\n\nso"],
    ["counts more: one was lost", [tool({ attempt: 1, seq: 2 })], null],
    ["counts another attempt: the reset was lost", [tool({ attempt: 2, seq: 0 })], null],
    ["is of another owner: so was the reset", [tool({ attempt: 1, seq: 1, epoch: 2 })], null],
    ["does not count", [tool()], null],
  ])("lets words before a tool call stand only when its progress %s", (_how, events, rest) => {
    expect(shown(delta(0, "let me see"), ...events).preview.rest("so")).toBe(rest);
  });

  it("shows nothing of a step that said nothing but white space, and no gap for it", () => {
    const { text, preview } = shown(delta(0, " "), delta(1, "\n", { step: 2 }), delta(2, " he", { step: 3 }));
    expect(text).toBe(" he");
    expect(preview.rest(" hello")).toBe("llo");
    const { preview: silent } = shown(delta(0, " "));
    expect(silent.rest("hello")).toBe("hello");
  });

  it("does not hold words against the answer that nobody was shown", () => {
    const preview = new AnswerPreview("t_1");
    preview.take(delta(0, "ab"));
    expect(preview.rest("xyz")).toBe("xyz");
  });
});

describe("answerText", () => {
  const final = { turn: "t_1", kind: "answer", index: 0, at: "", error: null, mergedInto: null } as const;
  it("leaves out an introduction that the text begins with, and nothing else", () => {
    expect(answerText({ ...final, text: "I am T.\n\nhi", introduction: "I am T." })).toBe("hi");
    expect(answerText({ ...final, text: "hi", introduction: "I am T." })).toBe("hi");
    expect(answerText({ ...final, text: "I am T.\n\nhi", introduction: null })).toBe("I am T.\n\nhi");
  });
});

describe("sessions", () => {
  const address = (headers: Record<string, string>, fresh = new FreshSessions(), change = {}) =>
    chatAddress(headers, chat(change), "owner", fresh);

  it.each(["http:a", "http:你好", "http:a b%c", "telegram:-1", "http:😀"])(
    "%s goes through a header and back",
    (session) => {
      const header = sessionHeader(session);
      expect(header).toMatch(/^[\x21-\x7e]+$/);
      expect(address({ "x-troupe-session": header }).session.text).toBe(session);
    },
  );

  it("understands a header in raw UTF-8", () => {
    const raw = Buffer.from("你好").toString("latin1");
    expect(address({ "x-troupe-session": raw }).session.text).toBe("http:你好");
  });

  it("gives the same message the same id in one session, and another one elsewhere", () => {
    const inA = address({ "x-troupe-session": "a" }).messageId;
    expect(address({ "x-troupe-session": "http:a" }).messageId).toBe(inA);
    expect(address({ "x-troupe-session": "b" }).messageId).not.toBe(inA);
  });

  it("takes a lost request's session up again, for ten minutes", () => {
    let now = 0;
    const fresh = new FreshSessions(() => now);
    const first = address({}, fresh);
    const meanwhile = address({}, fresh);
    expect(meanwhile.session.text).not.toBe(first.session.text);
    fresh.end(meanwhile.fresh ?? "", meanwhile.session.text, false);
    now = 600_000;
    const retried = address({}, fresh);
    expect(retried.session.text).toBe(meanwhile.session.text);
    expect(retried.repeatable).toBe(true);
    fresh.end(retried.fresh ?? "", retried.session.text, false);
    now = 1_200_001;
    expect(address({}, fresh).session.text).not.toBe(meanwhile.session.text);
  });

  it("joins a request under way only for a client that says it retries", () => {
    const fresh = new FreshSessions();
    const first = address({}, fresh);
    const retry = address({ "x-stainless-retry-count": "1" }, fresh);
    expect(retry.session.text).toBe(first.session.text);
    expect(retry.messageId).toBe(first.messageId);
    const stranger = address({ "x-stainless-retry-count": "0" }, fresh);
    expect(stranger.session.text).not.toBe(first.session.text);
  });

  it("forgets a request whose answer has arrived", () => {
    const fresh = new FreshSessions();
    const first = address({}, fresh);
    fresh.end(first.fresh ?? "", first.session.text, true);
    expect(address({ "x-stainless-retry-count": "1" }, fresh).session.text).not.toBe(first.session.text);
  });
});
