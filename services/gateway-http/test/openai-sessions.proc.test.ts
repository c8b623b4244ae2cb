import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startWorld, TOKEN, type World } from "./gateway-harness.js";

let world: World;
let client: OpenAI;
beforeAll(async () => {
  world = await startWorld();
  client = new OpenAI({ apiKey: TOKEN, baseURL: `${world.gateway.url}/v1`, maxRetries: 0 });
});
afterAll(() => world?.stop());
beforeEach(() => {
  world.orchestrator.script = ({ mail }) => `you said: ${mail.text}`;
});

type Messages = OpenAI.ChatCompletionMessageParam[];
const user = (content: string): Messages => [{ role: "user", content }];
const ask = (messages: Messages, more: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {}) =>
  client.chat.completions.create({ model: "troupe", messages, ...more });

const mailOf = (text: string) => world.orchestrator.mails.filter((mail) => mail.kind === "user" && mail.text === text);

describe("sessions and repeats", () => {
  const begin = (headers: Record<string, string>, body: Record<string, unknown> = {}) =>
    world.gateway.call(
      "POST",
      "/v1/chat/completions",
      { model: "test-model", messages: user("where"), ...body },
      headers,
    );

  it("the header goes before user, and non-ASCII ids are percent-encoded", async () => {
    const named = await begin({ "x-troupe-session": "telegram:9" }, { user: "bob" });
    expect(named.headers.get("x-troupe-session")).toBe("telegram:9");
    const encoded = await begin({ "x-troupe-session": encodeURIComponent("你好") });
    expect(encoded.headers.get("x-troupe-session")).toBe(`http:${encodeURIComponent("你好")}`);
  });

  it("without a name each request has a fresh session", async () => {
    const one = await begin({});
    const two = await begin({});
    expect(one.headers.get("x-troupe-session")).toMatch(/^http:c_/);
    expect(one.headers.get("x-troupe-session")).not.toBe(two.headers.get("x-troupe-session"));
  });

  it("the same request in the same session is one turn", async () => {
    const [one, two] = await Promise.all([ask(user("once"), { user: "r" }), ask(user("once"), { user: "r" })]);
    const three = await ask(user("once"), { user: "r" });
    expect(new Set([one.id, two.id, three.id]).size).toBe(1);
    expect(three.choices[0]?.message.content).toBe("you said: once");
    expect(mailOf("once")).toHaveLength(1);
  });

  it("the same Idempotency-Key is one turn, with or without a session", async () => {
    for (const more of [{}, { user: "key" }]) {
      const one = await begin({ "idempotency-key": `k-${JSON.stringify(more)}` }, more);
      const two = await begin({ "idempotency-key": `k-${JSON.stringify(more)}` }, more);
      expect(await idOf(two)).toBe(await idOf(one));
    }
    const other = await begin({ "idempotency-key": "k-{}" }, { messages: user("something else") });
    expect(other.status).toBe(409);
    expect(await other.json()).toMatchObject({ error: { code: "id_conflict" } });
  });

  /** Answers a turn only once released, and is released for ever then. */
  function slowly(): () => void {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    world.orchestrator.script = async () => {
      await released;
      return "kept for you";
    };
    return release;
  }

  it("the official client's own retry after a time-out gets the answer of the turn it began", async () => {
    const release = slowly();
    let tries = 0;
    const impatient = new OpenAI({
      apiKey: TOKEN,
      baseURL: `${world.gateway.url}/v1`,
      maxRetries: 10,
      timeout: 1_000,
      fetch: (url, init) => {
        tries += 1;
        if (tries === 2) release();
        return fetch(url, init);
      },
    });
    const { choices } = await impatient.chat.completions.create({ model: "troupe", messages: user("retried") });
    expect(choices[0]?.message.content).toBe("kept for you");
    expect(tries).toBeGreaterThan(1);
    expect(mailOf("retried")).toHaveLength(1);
  });

  it("a client that went away goes on with the turn it began, once", async () => {
    const release = slowly();
    const going = new AbortController();
    const gone = client.chat.completions.create(
      { model: "troupe", messages: user("lost"), stream: true },
      { signal: going.signal },
    );
    await expect.poll(() => mailOf("lost").length).toBe(1);
    going.abort();
    await expect(gone).rejects.toThrow();
    release();
    await expect.poll(closedByClients).toBe(1);
    expect((await ask(user("lost"))).id).toBe(`chatcmpl-${turnOf("lost")}`);
    expect(mailOf("lost")).toHaveLength(1);
    // It has its answer now: the same words are a new question.
    await ask(user("lost"));
    expect(mailOf("lost")).toHaveLength(2);
  });
});

async function idOf(answer: Response): Promise<string> {
  return ((await answer.json()) as { id: string }).id;
}

async function closedByClients(): Promise<number> {
  const text = await (await world.gateway.call("GET", "/metrics")).text();
  return Number(/^troupe_http_requests_total\{[^}]*status="499"[^}]*\} (\d+)/m.exec(text)?.[1] ?? 0);
}

function turnOf(text: string): string {
  const [mail] = mailOf(text);
  return mail?.kind === "user" ? mail.turn : "";
}
