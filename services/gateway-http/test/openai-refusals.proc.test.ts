import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { FakeAnswer } from "./fake-orchestrator.js";
import { startWorld, TOKEN, type World } from "./gateway-harness.js";
import { CompletionReader } from "./streamed-completion.js";

let world: World;
let client: OpenAI;
let reader: CompletionReader;
beforeAll(async () => {
  world = await startWorld();
  client = new OpenAI({ apiKey: TOKEN, baseURL: `${world.gateway.url}/v1`, maxRetries: 0 });
  reader = new CompletionReader(client);
});
afterAll(() => world?.stop());
beforeEach(() => {
  world.orchestrator.script = ({ mail }) => `you said: ${mail.text}`;
});

type Messages = OpenAI.ChatCompletionMessageParam[];
const user = (content: string): Messages => [{ role: "user", content }];
const ask = (messages: Messages, more: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {}) =>
  client.chat.completions.create({ model: "troupe", messages, ...more });

const streamed = (...args: Parameters<CompletionReader["read"]>) => reader.read(...args);

describe("refusals", () => {
  const body = { model: "troupe", messages: user("hi") };
  it.each<[Record<string, unknown>, number, string | null]>([
    [{ tools: [{ type: "function", function: { name: "f" } }] }, 400, "tools"],
    [{ functions: [{ name: "f" }] }, 400, "functions"],
    [{ n: 2 }, 400, "n"],
    [{ response_format: { type: "json_object" } }, 400, "response_format"],
    [{ model: "other" }, 404, "model"],
    [{ model: undefined }, 400, "model"],
    [{ messages: [] }, 400, "messages"],
    [{ messages: [{ role: "system", content: "x" }] }, 400, "messages"],
    [{ messages: user("") }, 400, "messages.0.content"],
    [
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "u" } }] }] },
      400,
      "messages.0.content.0",
    ],
  ])("%j is %i", async (change, status, param) => {
    const answer = await world.gateway.json("POST", "/v1/chat/completions", { ...body, ...change });
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({
      error: {
        message: expect.any(String),
        type: "invalid_request_error",
        param,
        code: expect.any(String),
      },
    });
  });

  it("a wrong token is what OpenAI calls it", async () => {
    const stranger = new OpenAI({ apiKey: "wrong", baseURL: `${world.gateway.url}/v1`, maxRetries: 0 });
    await expect(stranger.models.list()).rejects.toMatchObject({ status: 401, code: "invalid_api_key" });
  });

  it.each<[FakeAnswer, number, string]>([
    [{ text: "down", error: { code: "model_unavailable", retryable: true } }, 503, "model_unavailable"],
    [{ text: "no", error: { code: "model_refused", retryable: false } }, 502, "model_refused"],
    [{ text: "long", error: { code: "context_too_long", retryable: false } }, 400, "context_length_exceeded"],
    [{ text: "late", error: { code: "deadline", retryable: true } }, 504, "deadline"],
    [{ text: "what", error: { code: "empty_answer", retryable: true } }, 500, "empty_answer"],
    [{ text: "stopped", kind: "cancelled" }, 409, "turn_cancelled"],
  ])("final %j has status %i, streamed or not", async (final, status, code) => {
    world.orchestrator.script = () => final;
    await expect(ask(user(code))).rejects.toMatchObject({ status, code });
    const { error } = await streamed(user(`${code} streamed`));
    expect(error).toMatchObject({ status, code });
  });

  it("an error after the first words is a chunk", async () => {
    world.orchestrator.script = async ({ delta }) => {
      delta(0, "well");
      await reader.shown();
      return { text: "The model went away.", error: { code: "model_unavailable", retryable: true } };
    };
    const { text, error } = await streamed(user("broken"));
    expect(text).toBe("well");
    expect(error).toMatchObject({ code: "model_unavailable", message: "The model went away." });
  });

  it("models are the configured one and troupe", async () => {
    const { data } = await client.models.list();
    expect(data.map(({ id }) => id)).toEqual(["test-model", "troupe"]);
  });
});
