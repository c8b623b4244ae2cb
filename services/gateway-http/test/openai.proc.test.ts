import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
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

const mailOf = (text: string) => world.orchestrator.mails.filter((mail) => mail.kind === "user" && mail.text === text);

describe("chat completions", () => {
  it("answers with the final of a turn", async () => {
    const { data, response } = await client.chat.completions
      .create({ model: "troupe", user: "alice", messages: user("hi") })
      .withResponse();
    expect(response.headers.get("x-troupe-session")).toBe("http:alice");
    expect(data).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-t_/),
      object: "chat.completion",
      model: "troupe",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "you said: hi" },
          finish_reason: "stop",
        },
      ],
      usage: { total_tokens: 0 },
    });
  });

  it("streams each delta as it comes, then the rest", async () => {
    world.orchestrator.script = async ({ delta }) => {
      delta(0, "once ");
      // The turn goes on only when its words have reached the client.
      await reader.shown();
      delta(1, "upon ");
      await reader.shown();
      return "once upon a time";
    };
    const { chunks } = await streamed(user("story"));
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: "assistant", content: "" });
    const texts = chunks.map(({ choices }) => choices[0]?.delta.content);
    expect(texts).toEqual(["", "once ", "upon ", "a time", undefined]);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("stop");
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  it("adds a chunk with the usage when asked to", async () => {
    const { chunks } = await streamed(user("hi"), { stream_options: { include_usage: true } });
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 0 } });
    expect(chunks[0]?.usage).toBeNull();
  });

  it("keeps words before a tool call, and gives the answer as a paragraph of its own", async () => {
    world.orchestrator.script = async ({ delta, tool }) => {
      delta(0, "Let me look.");
      await reader.shown();
      tool("fetch", { attempt: 1, seq: 1 });
      delta(1, "It is ", { step: 2 });
      await reader.shown();
      return "It is sunny.";
    };
    const { text, error } = await streamed(user("weather"));
    expect(error).toBeUndefined();
    expect(text).toBe("Let me look.\n\nIt is sunny.");
  });

  it.each<[string, (turn: Parameters<World["orchestrator"]["script"]>[0]) => Promise<string>]>([
    [
      "a gap",
      async ({ delta }) => {
        delta(0, "one ");
        await reader.shown();
        delta(2, "three");
        return "one two three";
      },
    ],
    [
      "a reset",
      async ({ delta, reset }) => {
        delta(0, "one ");
        await reader.shown();
        reset(2);
        delta(0, "two", { attempt: 2 });
        return "one two three";
      },
    ],
    [
      "another owner",
      async ({ delta }) => {
        delta(0, "one ");
        await reader.shown();
        delta(1, "uno", { epoch: 2 });
        return "one two three";
      },
    ],
  ])("holds back after %s and completes with the final", async (_what, script) => {
    world.orchestrator.script = script;
    const { text, error } = await streamed(user("count"));
    expect(error).toBeUndefined();
    expect(text).toBe("one two three");
  });

  it("ends with stream_reset when the final does not continue what was shown", async () => {
    world.orchestrator.script = async ({ delta, reset }) => {
      delta(0, "a lie");
      await reader.shown();
      reset(2);
      return "the truth";
    };
    const { text, error } = await streamed(user("tell"));
    expect(text).toBe("a lie");
    expect(error?.code).toBe("stream_reset");
  });

  it("ends with stream_reset when it was not told that words before a tool call were taken back", async () => {
    world.orchestrator.script = async ({ delta, tool }) => {
      delta(0, "a lie");
      await reader.shown();
      tool("fetch", { attempt: 2, seq: 0 });
      return "the truth";
    };
    const { text, error } = await streamed(user("fetch"));
    expect(text).toBe("a lie");
    expect(error?.code).toBe("stream_reset");
  });

  it("leaves out the introduction", async () => {
    world.orchestrator.script = () => ({ text: "I am Troupe.\n\nhello", introduction: "I am Troupe." });
    expect((await ask(user("hi"))).choices[0]?.message.content).toBe("hello");
    expect((await streamed(user("hi again"))).text).toBe("hello");
  });

  it("gives a message that a running turn took in that turn's answer", async () => {
    const first = { turn: "" };
    world.orchestrator.script = async ({ mail }) => {
      if (mail.text !== "first") return { kind: "merged", mergedInto: first.turn };
      first.turn = mail.turn;
      return "the one answer";
    };
    await ask(user("first"), { user: "merge" });
    const { choices } = await ask(user("second"), { user: "merge" });
    expect(choices[0]?.message.content).toBe("the one answer");
  });

  it("takes the last user message as mail and system messages as instructions", async () => {
    await ask(
      [
        { role: "system", content: "Be brief." },
        { role: "user", content: "before" },
        { role: "assistant", content: "ok" },
        { role: "developer", content: "Be kind." },
        {
          role: "user",
          content: [
            { type: "text", text: "part 1" },
            { type: "text", text: "part 2" },
          ],
        },
      ],
      { user: "parts" },
    );
    expect(mailOf("part 1\npart 2")).toMatchObject([{ instructions: "Be brief.\n\nBe kind." }]);
    expect(mailOf("before")).toHaveLength(0);
  });
});
