import type { ScriptedStream } from "@troupe/testkit";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { Conversation } from "../system/conversation.js";
import { useTroupe } from "../system/use-troupe.js";
import { outline } from "../system/valid-history.js";

const system = useTroupe();

type ClientOptions = ConstructorParameters<typeof OpenAI>[0];

const clientOf = (options: ClientOptions = {}): OpenAI =>
  new OpenAI({ baseURL: `${system().url}/v1`, apiKey: system().token, maxRetries: 0, ...options });

const ask = (content: string, user?: string) => ({
  model: "troupe",
  messages: [{ role: "user" as const, content }],
  ...(user === undefined ? {} : { user }),
});

const timesAsked = (text: string): number => system().model.requests.filter(({ lastUser }) => lastUser === text).length;

describe("the official OpenAI client", () => {
  it("lists the models", async () => {
    const { data } = await clientOf().models.list();
    expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining(["troupe", "scripted"]));
  });

  it("gets a whole answer, and a session to go on with", async () => {
    const client = clientOf();
    const { data, response } = await client.chat.completions.create(ask("hello")).withResponse();
    expect(data.choices).toMatchObject([
      { index: 0, finish_reason: "stop", message: { role: "assistant", content: "echo: hello" } },
    ]);
    const session = response.headers.get("x-troupe-session") ?? "";
    await client.chat.completions.create(ask("more"), { headers: { "x-troupe-session": session } });
    expect(outline(await new Conversation(system(), session).messages())).toEqual([
      "user: hello",
      "assistant: echo: hello",
      "user: more",
      "assistant: echo: more",
    ]);
  });

  it("gets a streamed answer piece by piece", async () => {
    system().model.enqueue((_request, respond) => respond.text(["one ", "two ", "three"]));
    const stream = await clientOf().chat.completions.create({ ...ask("count"), stream: true });
    const pieces: string[] = [];
    let finish: string | null | undefined;
    for await (const { choices } of stream) {
      const [choice] = choices;
      if (choice?.delta.content) pieces.push(choice.delta.content);
      finish = choice?.finish_reason ?? finish;
    }
    expect(pieces.join("")).toBe("one two three");
    expect(finish).toBe("stop");
  });

  it("sees words before the answer is finished; when it leaves, the turn goes on to its end", async () => {
    let words: ScriptedStream | undefined;
    system().model.enqueue((_request, respond) => {
      words = respond.stream();
      words.text("the first words");
    });
    const client = clientOf();
    const stream = await client.chat.completions.create({ ...ask("be quick", "leaver"), stream: true });
    for await (const { choices } of stream) {
      if (choices[0]?.delta.content === "the first words") break;
    }
    stream.controller.abort();
    words?.text(" and the last");
    words?.finish();
    words?.done();
    const chat = new Conversation(system(), "leaver");
    await chat.until("the turn is over", ({ turn }) => turn === null);
    expect(outline(await chat.messages())).toEqual(["user: be quick", "assistant: the first words and the last"]);
  });

  it("that retries after a time-out gets the answer of the same turn", async () => {
    const gate = system().model.hold("patience");
    let tries = 0;
    const client = clientOf({
      maxRetries: 10,
      timeout: 1_000,
      fetch: (url, init) => {
        tries += 1;
        if (tries === 2) gate.release();
        return fetch(url, init);
      },
    });
    const { choices } = await client.chat.completions.create(ask("patience"));
    expect(choices[0]?.message.content).toBe("echo: patience");
    expect(tries).toBeGreaterThan(1);
    expect(timesAsked("patience")).toBe(1);
  });

  it("that retries because the answer was lost on the way gets it again, in the same session", async () => {
    let tries = 0;
    const client = clientOf({
      maxRetries: 2,
      fetch: async (url, init) => {
        tries += 1;
        const response = await fetch(url, init);
        if (tries > 1) return response;
        await response.text();
        throw new TypeError("the connection was lost");
      },
    });
    const { choices } = await client.chat.completions.create(ask("lost answer", "lost"));
    expect(choices[0]?.message.content).toBe("echo: lost answer");
    expect(tries).toBe(2);
    expect(timesAsked("lost answer")).toBe(1);
    expect((await new Conversation(system(), "lost").history()).total).toBe(2);
  });

  it("hears of a refused model in its own terms", async () => {
    const take = system().model.when("forbidden", (_request, respond) => respond.status(401, { error: {} }));
    await expect(clientOf().chat.completions.create(ask("forbidden"))).rejects.toMatchObject({
      status: 502,
      code: "model_refused",
    });
    take();
  });

  it("with a wrong key is refused, and asking for an unknown model too", async () => {
    await expect(clientOf({ apiKey: "wrong" }).models.list()).rejects.toMatchObject({ status: 401 });
    await expect(clientOf().chat.completions.create({ ...ask("hi"), model: "gpt-99" })).rejects.toMatchObject({
      status: 404,
    });
  });
});
