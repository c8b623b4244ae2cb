import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Conversation } from "../system/conversation.js";
import { useTroupe } from "../system/use-troupe.js";
import { expectValidHistory, outline } from "../system/valid-history.js";

const Case = z.object({
  name: z.string(),
  deltas: z.array(z.array(z.record(z.string(), z.unknown()))),
  calls: z.array(z.tuple([z.string(), z.record(z.string(), z.unknown())])).default([]),
  toolError: z.boolean().default(false),
});
const cases = z
  .array(Case)
  .parse(JSON.parse(readFileSync(new URL("../fixtures/tool-deltas.json", import.meta.url), "utf8")));

const system = useTroupe();
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe("a model that calls tools", () => {
  it("gets the results of two calls made at once, each under its own id, and answers with them", async () => {
    const chat = new Conversation(system(), "parallel");
    const { model } = system();
    model.enqueue(
      (_request, respond) =>
        respond.calls([
          { id: "time", name: "now", arguments: {} },
          { id: "word", name: "echo", arguments: { text: "hello" } },
        ]),
      (_request, respond) => respond.text("both done"),
    );
    expect((await chat.say("do both")).final.text).toBe("both done");
    const messages = await chat.messages();
    expectValidHistory(messages);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "assistant"]);
    const results = messages.flatMap((message) => (message.role === "tool" ? [message] : []));
    const byId = Object.fromEntries(results.map((result) => [result.tool_call_id, result]));
    expect(byId.time).toMatchObject({ isError: false, content: expect.stringMatching(ISO_TIME) });
    expect(byId.word).toMatchObject({ isError: false, content: "hello" });
    const shown = model.requests.at(-1)?.body.messages?.filter(({ role }) => role === "tool");
    expect(shown?.map((message) => message.tool_call_id).sort()).toEqual(["time", "word"]);
  });

  it("hears what is wrong with an argument and may try again", async () => {
    const chat = new Conversation(system(), "wrong-argument");
    system().model.enqueue(
      (_request, respond) => respond.calls([{ id: "a", name: "echo", arguments: { words: 3 } }]),
      (_request, respond) => respond.calls([{ id: "b", name: "echo", arguments: { text: "right" } }]),
      (_request, respond) => respond.text("got it"),
    );
    expect((await chat.say("try")).final.text).toBe("got it");
    const messages = await chat.messages();
    expectValidHistory(messages);
    const results = messages.flatMap((message) => (message.role === "tool" ? [message] : []));
    expect(results).toMatchObject([{ isError: true, content: expect.stringContaining("text") }, { content: "right" }]);
  });

  it("may use one id twice: the history holds two", async () => {
    const chat = new Conversation(system(), "same-id");
    const again = () =>
      system().model.enqueue((_request, respond) =>
        respond.calls([{ id: "same", name: "echo", arguments: { text: "x" } }]),
      );
    again();
    again();
    expect((await chat.say("go")).final.text).toBe("echo: go");
    expectValidHistory(await chat.messages());
  });
});

describe("tool calls as providers stream them", () => {
  it.each(cases.map((one) => [one.name, one] as const))("%s", async (name, { deltas, calls, toolError }) => {
    const chat = new Conversation(system(), `deltas ${name}`);
    system().model.enqueue(
      (_request, respond) => respond.deltas(deltas),
      (_request, respond) => respond.text("and so it goes on"),
    );
    const { final } = await chat.say("call");
    expect(final).toMatchObject({ kind: "answer", text: "and so it goes on" });
    const messages = await chat.messages();
    expectValidHistory(messages);
    const made = messages.flatMap((message) => (message.role === "assistant" ? (message.tool_calls ?? []) : []));
    const results = messages.flatMap((message) => (message.role === "tool" ? [message] : []));
    expect(results.map(({ isError }) => isError)).toEqual(made.map(() => toolError));
    if (toolError) {
      expect(made).toHaveLength(1);
      return;
    }
    expect(made.map((call) => [call.function.name, JSON.parse(call.function.arguments)])).toEqual(calls);
    const echoed = calls.flatMap(([tool, input]) => (tool === "echo" ? [`tool: ${String(input.text)}`] : []));
    expect(outline(messages).filter((line) => line.startsWith("tool: ") && !ISO_TIME.test(line.slice(6)))).toEqual(
      echoed,
    );
  });
});
