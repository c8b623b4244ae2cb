import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { Conversation } from "../system/conversation.js";
import { useTroupe } from "../system/use-troupe.js";

const system = useTroupe({ config: "agent: { name: Ada }\nintroduction: { enabled: true }\n" });

describe("the introduction, when it is enabled", () => {
  it("comes before the first answer of a conversation, and before no other", async () => {
    const chat = new Conversation(system(), "intro");
    const { final } = await chat.say("hello");
    expect(final.introduction).toContain("Ada");
    expect(final.text).toBe(`${final.introduction}\n\necho: hello`);
    expect((await chat.say("more")).final).toMatchObject({ text: "echo: more", introduction: null });
  });

  it("comes again after a reset", async () => {
    const chat = new Conversation(system(), "intro-reset");
    const { final } = await chat.say("hello");
    await chat.control("reset");
    expect((await chat.say("hello")).final.text).toBe(final.text);
    expect(final.text).toContain("Ada");
  });

  it("is not put before an error", async () => {
    system().model.enqueue((_request, respond) => respond.status(401));
    const chat = new Conversation(system(), "intro-error");
    expect((await chat.say("hello")).final).toMatchObject({ kind: "error", introduction: null });
    expect((await chat.say("again")).final.introduction).toContain("Ada");
  });

  it("is not shown to the OpenAI client", async () => {
    const client = new OpenAI({ baseURL: `${system().url}/v1`, apiKey: system().token });
    const { choices } = await client.chat.completions.create({
      model: "troupe",
      messages: [{ role: "user", content: "hello" }],
    });
    expect(choices[0]?.message.content).toBe("echo: hello");
  });
});
