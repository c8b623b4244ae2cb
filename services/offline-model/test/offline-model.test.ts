import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type OfflineModel, startOfflineModel } from "../src/offline-model.js";

let model: OfflineModel;
let client: OpenAI;
beforeEach(async () => {
  model = await startOfflineModel(0);
  client = new OpenAI({ baseURL: model.url, apiKey: "none", maxRetries: 0 });
});
afterEach(() => model.close());

const ask = (content: string) => ({
  model: "offline",
  messages: [{ role: "user" as const, content }],
});
const tools = ["now", "echo"].map((name) => ({ type: "function" as const, function: { name } }));

describe("OpenAI's client", () => {
  test("finds the model", async () => {
    const { data } = await client.models.list();
    expect(data.map((found) => found.id)).toEqual(["offline"]);
  });

  test("gets a whole answer with usage", async () => {
    const answer = await client.chat.completions.create(ask("hello"));
    expect(answer.choices[0]?.message.content).toContain("offline model");
    expect(answer.choices[0]?.finish_reason).toBe("stop");
    expect(answer.usage?.completion_tokens).toBeGreaterThan(10);
    expect(answer.usage?.total_tokens).toBe(
      (answer.usage?.prompt_tokens ?? 0) + (answer.usage?.completion_tokens ?? 0),
    );
  });

  test("gets the same answer as a stream, with the same usage if asked for", async () => {
    const whole = await client.chat.completions.create(ask("hello"));
    const stream = await client.chat.completions.create({
      ...ask("hello"),
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let pieces = 0;
    const usages = [];
    for await (const chunk of stream) {
      const piece = chunk.choices[0]?.delta.content ?? "";
      text += piece;
      if (piece !== "") pieces += 1;
      if (chunk.usage) usages.push(chunk.usage);
    }
    expect(text).toBe(whole.choices[0]?.message.content);
    expect(pieces).toBeGreaterThan(5);
    expect(usages).toEqual([whole.usage]);
  });

  test("has a tool called, in several deltas, and the result reported", async () => {
    const echoed = "a fairly long text with 🙂 in it, so that its arguments come in parts";
    const runner = client.chat.completions.stream({ ...ask(`echo ${echoed}`), tools });
    let deltas = 0;
    runner.on("chunk", (chunk) => {
      deltas += chunk.choices[0]?.delta.tool_calls?.length ?? 0;
    });
    const { message, finish_reason: finish } = (await runner.finalChatCompletion()).choices[0] ?? {};
    expect(finish).toBe("tool_calls");
    expect(deltas).toBeGreaterThan(3);
    const call = message?.tool_calls?.[0];
    if (message === undefined || call?.type !== "function") throw new Error("no call");
    expect(JSON.parse(call.function.arguments)).toEqual({ text: echoed });

    const answer = await client.chat.completions.create({
      model: "offline",
      tools,
      messages: [
        { role: "user", content: `echo ${echoed}` },
        message,
        { role: "tool", tool_call_id: call.id, content: echoed },
      ],
    });
    expect(answer.choices[0]?.message.content).toContain(`The tool echo answered: ${echoed}`);
  });

  test("sees a failure as one", async () => {
    const failed = client.chat.completions.create(ask("fail"));
    await expect(failed).rejects.toMatchObject({ status: 500, type: "server_error" });
  });

  test.each([
    ["no messages", { model: "offline", messages: [] }, "messages"],
    ["no model", { messages: [{ role: "user", content: "x" }] }, "model"],
    ["an unknown role", { model: "offline", messages: [{ role: "wizard", content: "x" }] }, "messages.0.role"],
  ])("is told about %s", async (_name, body, param) => {
    const refused = client.post("/chat/completions", { body });
    await expect(refused).rejects.toMatchObject({
      status: 400,
      type: "invalid_request_error",
      param,
    });
  });

  test("is told about a route that is not there", async () => {
    await expect(client.embeddings.create({ model: "offline", input: "x" })).rejects.toMatchObject({
      status: 404,
    });
  });
});

describe("on the wire", () => {
  const post = (body: string) => fetch(`${model.url}/chat/completions`, { method: "POST", body });

  test("a body that is no JSON, and one that is too large, get an error envelope", async () => {
    const broken = await post("{");
    expect(broken.status).toBe(400);
    expect(await broken.json()).toMatchObject({ error: { type: "invalid_request_error" } });
    const large = await post("x".repeat(9 * 1024 * 1024));
    expect(large.status).toBe(413);
    expect(await large.json()).toMatchObject({
      error: { message: expect.stringContaining("8388608") },
    });
  });

  test("a story takes its time word by word, and a drain hurries it without losing any", async () => {
    const whole = await client.chat.completions.create(ask("tell me a story"));
    const startedAt = performance.now();
    const stream = await client.chat.completions.create({
      ...ask("tell me a story"),
      stream: true,
    });
    let text = "";
    let words = 0;
    let closed: Promise<void> | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      words += 1;
      if (words === 6) {
        expect(performance.now() - startedAt).toBeGreaterThan(200);
        closed = model.close();
      }
    }
    await closed;
    expect(text).toBe(whole.choices[0]?.message.content);
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    model = await startOfflineModel(0);
  });

  test("a listener that leaves in the middle of a story keeps nothing open", async () => {
    const stream = await client.chat.completions.create({
      ...ask("tell me a story"),
      stream: true,
    });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    const startedAt = performance.now();
    await model.close();
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    model = await startOfflineModel(0);
  });
});
