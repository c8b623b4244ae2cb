import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { apiKey, type Rig, startRig, watchRejections } from "./model-fixture.js";

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(async () => {
  await rig.server.close();
  expect(rig.server.failures).toEqual([]);
});

const rejections = watchRejections();
afterAll(() => expect(rejections()).toEqual([]));

describe("an answer", () => {
  test("comes piece by piece, with usage, model and finish reason", async () => {
    rig.server.enqueue((_request, respond) => respond.text(["Hel", "lo ", "世界"], { finish: "length" }));
    const { outcome, pieces } = await rig.call({ model: "m-1" });
    expect(pieces).toEqual(["Hel", "lo ", "世界"]);
    expect(outcome).toEqual({
      kind: "answer",
      text: "Hello 世界",
      calls: [],
      finish: "length",
      usage: { inputTokens: 11, outputTokens: 7 },
      model: "m-1",
    });
  });

  test("is asked for with what the request holds and nothing that strict servers refuse", async () => {
    await rig.call({
      model: "m-1",
      maxTokens: 99,
      messages: [
        { role: "system", content: "be brief" },
        { role: "user", content: "hi" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c1", type: "function", function: { name: "now", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "c1", content: "noon" },
        { role: "assistant", content: "noon", tool_calls: [] },
      ],
      tools: [{ name: "now", description: "the time", parameters: { type: "object", properties: {} } }],
    });
    await rig.call();
    const [first, second] = rig.server.requests;
    expect(first?.path).toBe("/v1/chat/completions");
    expect(first?.headers.authorization).toBe(`Bearer ${apiKey}`);
    expect(first?.body).toEqual({
      model: "m-1",
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 99,
      messages: [
        { role: "system", content: "be brief" },
        { role: "user", content: "hi" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c1", type: "function", function: { name: "now", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "c1", content: "noon" },
        { role: "assistant", content: "noon" },
      ],
      tools: [
        {
          type: "function",
          function: {
            name: "now",
            description: "the time",
            parameters: { type: "object", properties: {} },
          },
        },
      ],
    });
    expect(second?.body).not.toHaveProperty("tools");
    expect(second?.body).not.toHaveProperty("max_tokens");
  });

  test("reaches servers without a key without an Authorization header", async () => {
    const open = await startRig({ apiKey: "" });
    await open.call();
    expect(open.server.requests[0]?.headers.authorization).toBeUndefined();
    await open.server.close();
  });

  test("never shows reasoning, whatever the field", async () => {
    const hidden = "SECRET THOUGHT";
    rig.server.enqueue((_request, respond) => {
      const stream = respond.stream();
      for (const field of ["reasoning_content", "reasoning", "thinking", "reasoning_text", "thought"]) {
        stream.delta({ [field]: hidden });
        stream.delta({ [field]: hidden, content: "" });
        stream.delta({ [field]: hidden, content: null });
      }
      stream.delta({ reasoning_details: [{ type: "reasoning.text", text: hidden }] });
      stream.delta({ content: [{ type: "thinking", thinking: [{ type: "text", text: hidden }] }] });
      stream.delta({
        content: [
          { type: "reasoning", text: hidden },
          { type: "text", text: "plain" },
        ],
      });
      stream.finish();
      stream.done();
    });
    const { outcome, pieces } = await rig.call();
    expect(outcome).toMatchObject({ kind: "answer", text: "plain" });
    expect(pieces).toEqual(["plain"]);
  });

  test("may come whole although a stream was asked for", async () => {
    rig.server.enqueue((_request, respond) =>
      respond.status(200, {
        model: "whole",
        choices: [
          {
            message: {
              content: "all at once",
              reasoning_content: "hm",
              tool_calls: [{ id: "c1", type: "function", function: { name: "now", arguments: "{}" } }],
            },
            finish_reason: "tool_calls",
          },
        ],
        usage: { prompt_tokens: 3, completion_tokens: 4 },
      }),
    );
    const { outcome, pieces } = await rig.call();
    expect(pieces).toEqual(["all at once"]);
    expect(outcome).toEqual({
      kind: "answer",
      text: "all at once",
      calls: [{ id: "c1", name: "now", arguments: "{}" }],
      finish: "tool_calls",
      usage: { inputTokens: 3, outputTokens: 4 },
      model: "whole",
    });
  });

  test("survives empty choices, comments, other choices and unreadable usage", async () => {
    rig.server.enqueue((_request, respond) => {
      const stream = respond.stream();
      stream.raw(": keep-alive\n\n");
      stream.event({ choices: [] });
      stream.event({ id: "x" });
      stream.event({ choices: [{ index: 1, delta: { content: "other" } }] });
      stream.text("yes");
      stream.event({ choices: [], usage: { prompt_tokens: "many" } });
      stream.finish();
      stream.done();
    });
    const { outcome } = await rig.call();
    expect(outcome).toMatchObject({
      kind: "answer",
      text: "yes",
      usage: { inputTokens: 0, outputTokens: 0 },
    });
  });

  test("is whole with a finish reason but no [DONE], and with [DONE] but no finish reason", async () => {
    rig.server.enqueue(
      (_request, respond) => {
        const stream = respond.stream();
        stream.text("a");
        stream.finish("stop");
        stream.end();
      },
      (_request, respond) => {
        const stream = respond.stream();
        stream.text("b");
        stream.done();
      },
    );
    expect((await rig.call()).outcome).toMatchObject({ kind: "answer", text: "a", finish: "stop" });
    expect((await rig.call()).outcome).toMatchObject({ kind: "answer", text: "b", finish: "stop" });
  });

  test("does not wait for a server that leaves the connection open after [DONE]", async () => {
    rig.server.enqueue((_request, respond) => {
      const stream = respond.stream();
      stream.text("a");
      stream.finish();
      stream.raw("data: [DONE]\n\n");
    });
    const { outcome } = await rig.call();
    expect(outcome).toMatchObject({ kind: "answer", text: "a" });
    // The connection is given up soon after, so that a lazy server does not collect them.
    expect(await rig.server.requests[0]?.over).toEqual({ clientLeft: true });
  });

  test("is read out to the end of its body, so that the connection is used again", async () => {
    rig.server.reply((request, respond) => {
      const stream = respond.stream();
      stream.text(request.lastUser);
      stream.finish();
      stream.raw("data: [DONE]\n\n");
      // The end comes in a later packet than the marker, as from a proxy.
      setImmediate(() => stream.end());
    });
    for (let n = 0; n < 5; n += 1) {
      await rig.call();
      await rig.server.requests[n]?.over;
    }
    const ports = new Set(rig.server.requests.map((request) => request.port));
    expect(ports.size).toBeLessThan(4);
  });

  test("is not lost to a listener that throws", async () => {
    const onText = (): void => {
      throw new Error("preview broke");
    };
    expect((await rig.call({}, { onText })).outcome).toMatchObject({
      kind: "answer",
      text: "echo: hello",
    });
  });

  test("and many at a time keep apart", async () => {
    const texts = Array.from({ length: 40 }, (_value, n) => `message ${n}`);
    const answers = await Promise.all(texts.map((content) => rig.call({ messages: [{ role: "user", content }] })));
    expect(answers.map(({ outcome }) => outcome)).toMatchObject(
      texts.map((text) => ({ kind: "answer", text: `echo: ${text}` })),
    );
  });
});

describe("fields that a provider does not know", () => {
  test("stream_options is left out after one refusal, and stays out", async () => {
    rig.server.when(
      (request) => request.body.stream_options !== undefined,
      (_request, respond) => respond.status(400, { error: { message: "Unknown field: stream_options" } }),
    );
    expect((await rig.call()).outcome).toMatchObject({ kind: "answer", text: "echo: hello" });
    expect((await rig.call()).outcome).toMatchObject({ kind: "answer" });
    expect(rig.server.requests.map((request) => "stream_options" in request.body)).toEqual([true, false, false]);
  });

  test("named in a validation error without an error object", async () => {
    rig.server.when(
      (request) => request.body.stream_options !== undefined,
      (_request, respond) =>
        respond.status(422, {
          detail: [{ loc: ["body", "stream_options"], msg: "not permitted" }],
        }),
    );
    expect((await rig.call()).outcome).toMatchObject({ kind: "answer" });
  });

  test("max_tokens gives way to max_completion_tokens, for that model", async () => {
    rig.server.when(
      (request) => request.body.model === "o-new" && "max_tokens" in request.body,
      (_request, respond) =>
        respond.status(400, {
          error: {
            message: "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
            param: "max_tokens",
          },
        }),
    );
    await rig.call({ model: "o-new", maxTokens: 5 });
    await rig.call({ model: "o-new", maxTokens: 6 });
    await rig.call({ model: "o-old", maxTokens: 7 });
    const limits = rig.server.requests.map(({ body }) => [body["max_tokens"], body["max_completion_tokens"]]);
    expect(limits).toEqual([
      [5, undefined],
      [undefined, 5],
      [undefined, 6],
      [7, undefined],
    ]);
  });

  test("a refusal that goes on is not asked again for ever", async () => {
    rig.server.reply((_request, respond) => respond.status(400, { error: { message: "bad stream_options" } }));
    expect((await rig.call()).outcome).toMatchObject({ kind: "failed", code: "refused" });
    expect(rig.server.requests).toHaveLength(2);
  });
});
