import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { FakeAnswer } from "./fake-orchestrator.js";
import { startWorld, TOKEN, type World } from "./gateway-harness.js";

let world: World;
/** The official client as it comes, with its own retries. */
let client: OpenAI;
beforeAll(async () => {
  world = await startWorld();
  client = new OpenAI({ apiKey: TOKEN, baseURL: `${world.gateway.url}/v1`, fetch: withoutPauses });
});
afterAll(() => world?.stop());
beforeEach(() => {
  world.orchestrator.script = ({ mail }) => `you said: ${mail.text}`;
});

/** The client waits as long as the server asks it to; how long that is is not what is tested here. */
const withoutPauses: typeof fetch = async (input, init) => {
  const answer = await fetch(input, init);
  if (!answer.headers.has("retry-after")) return answer;
  const headers = new Headers(answer.headers);
  headers.delete("retry-after");
  headers.set("retry-after-ms", "1");
  return new Response(answer.body, { status: answer.status, headers });
};

const DOWN: FakeAnswer = { text: "down", error: { code: "model_unavailable", retryable: true } };

const ask = (text: string, more: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {}) =>
  client.chat.completions.create({ model: "troupe", messages: [{ role: "user", content: text }], ...more });

const streamed = (text: string) =>
  client.chat.completions.create({ model: "troupe", messages: [{ role: "user", content: text }], stream: true });

/** How often a text reached the model, and in how many sessions. */
function asked(text: string): { times: number; sessions: number } {
  const mails = world.orchestrator.mails.filter((mail) => mail.kind === "user" && mail.text === text);
  return { times: mails.length, sessions: new Set(mails.map(({ id }) => id.split(":")[0])).size };
}

/** Answers with each of these in turn, and with the last of them from then on. */
function answering(...answers: FakeAnswer[]): void {
  world.orchestrator.script = () => (answers.length > 1 ? answers.shift() : answers[0]) ?? "";
}

describe("the official client's own retries, without a session", () => {
  it.each<[string, FakeAnswer]>([
    ["model_unavailable", { text: "gone", error: { code: "model_unavailable", retryable: false } }],
    ["model_refused", { text: "no", error: { code: "model_refused", retryable: false } }],
    ["context_length_exceeded", { text: "long", error: { code: "context_too_long", retryable: false } }],
    ["empty_answer", { text: "what", error: { code: "empty_answer", retryable: false } }],
    ["budget_exceeded", { text: "spent", error: { code: "budget_exceeded", retryable: false } }],
    ["turn_limit", { text: "far", error: { code: "turn_limit", retryable: false } }],
    ["deadline", { text: "late", error: { code: "deadline", retryable: false } }],
    ["internal", { text: "broken", error: { code: "internal", retryable: false } }],
    ["turn_cancelled", { text: "stopped", kind: "cancelled" }],
  ])("do not repeat a turn that is over with %s, streamed or not", async (code, final) => {
    world.orchestrator.script = () => final;
    await expect(ask(code)).rejects.toMatchObject({ code });
    expect(asked(code)).toEqual({ times: 1, sessions: 1 });
    await expect(streamed(`${code} streamed`)).rejects.toMatchObject({ code });
    expect(asked(`${code} streamed`)).toEqual({ times: 1, sessions: 1 });
  });

  it("get over a failure that passes, in the session where it happened", async () => {
    answering(DOWN, "here you are");
    const { choices } = await ask("passing");
    expect(choices[0]?.message.content).toBe("here you are");
    expect(asked("passing")).toEqual({ times: 2, sessions: 1 });
    // Answered: the same words are a new question.
    await ask("passing");
    expect(asked("passing")).toEqual({ times: 3, sessions: 2 });
  });

  it("end in one session when it does not pass", async () => {
    answering(DOWN);
    await expect(ask("lasting")).rejects.toMatchObject({ code: "model_unavailable" });
    expect(asked("lasting")).toEqual({ times: 3, sessions: 1 });
  });
});

describe("the same request in a named session", () => {
  it.each<[string, FakeAnswer]>([
    ["a failure that passes", DOWN],
    ["a cancelled turn", { kind: "cancelled", text: "stopped" }],
  ])("is asked anew after %s, and then has its answer", async (what, failure) => {
    const once = { maxRetries: 0 };
    const again = (): Promise<OpenAI.ChatCompletion> =>
      client.chat.completions.create(
        { model: "troupe", user: what, messages: [{ role: "user", content: what }] },
        once,
      );
    answering(failure, failure, "here you are");
    await expect(again()).rejects.toThrow();
    await expect(again()).rejects.toThrow();
    const answer = await again();
    expect(answer.choices[0]?.message.content).toBe("here you are");
    expect(asked(what).times).toBe(3);
    expect((await again()).id).toBe(answer.id);
    expect(asked(what).times).toBe(3);
  });

  it("streams what comes after the failure", async () => {
    answering(DOWN, "here you are");
    const body = { model: "troupe", user: "s", messages: [{ role: "user" as const, content: "streamed anew" }] };
    await expect(client.chat.completions.create(body, { maxRetries: 0 })).rejects.toThrow();
    let text = "";
    for await (const chunk of await client.chat.completions.create({ ...body, stream: true }, { maxRetries: 0 })) {
      text += chunk.choices[0]?.delta.content ?? "";
    }
    expect(text).toBe("here you are");
  });

  it("gets the same failure again when it is for good, or when a key names the message", async () => {
    answering({ text: "no", error: { code: "model_refused", retryable: false } }, "not to be seen");
    for (let n = 0; n < 2; n++) await expect(ask("for good", { user: "g" })).rejects.toMatchObject({ status: 502 });
    expect(asked("for good").times).toBe(1);
    answering(DOWN, "not to be seen");
    const body = { model: "troupe", user: "k", messages: [{ role: "user" as const, content: "keyed" }] };
    for (let n = 0; n < 2; n++) {
      const keyed = client.chat.completions.create(body, { maxRetries: 0, headers: { "idempotency-key": "key-1" } });
      await expect(keyed).rejects.toMatchObject({ status: 503 });
    }
    expect(asked("keyed").times).toBe(1);
  });
});
