import { readFileSync } from "node:fs";
import type { ScriptedReply } from "@troupe/testkit";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Conversation } from "../system/conversation.js";
import { followEvents } from "../system/event-reader.js";
import { useTroupe } from "../system/use-troupe.js";
import { expectValidHistory } from "../system/valid-history.js";
import { each, plain, shownTo, streamCompletion } from "./wire-reading.js";

/** What a model thinks aloud, over the whole way: from the provider's chunks to people, history and the next request. */
const Case = z.object({
  name: z.string(),
  chunks: z.array(z.string()),
  visible: z.string(),
  onlyReasoning: z.boolean().default(false),
  reasoning_content: z.string().optional(),
});
type Case = z.infer<typeof Case>;
const cases = z
  .array(Case)
  .parse(JSON.parse(readFileSync(new URL("../fixtures/reasoning.json", import.meta.url), "utf8")));

/** The same answer under another cut into chunks. */
interface Variant extends Case {
  readonly id: string;
}

const PARALLEL = 24;
const system = useTroupe();

const variantsOf = (one: Case, n: number): Variant[] => {
  const whole = one.chunks.join("");
  const splits = Array.from(whole, (_, at) => at).slice(1);
  const cuts = [one.chunks, Array.from(whole), ...splits.map((at) => [whole.slice(0, at), whole.slice(at)])];
  return cuts.map((chunks, k) => ({ ...one, chunks, id: `v${n}x${k}` }));
};
const isOrphan = ({ name }: Case): boolean => name.startsWith("orphan end");

/** An answer with reasoning in every field that some provider has for it. */
const answerOf = ({ chunks, reasoning_content: hidden }: Case): ScriptedReply => {
  if (hidden === undefined) return (_request, respond) => respond.text(chunks);
  return (_request, respond) => {
    const stream = respond.stream();
    stream.delta({ role: "assistant", content: null, reasoning_content: hidden, reasoning: hidden });
    stream.delta({ reasoning_details: [{ type: "reasoning.text", text: hidden }], thinking: hidden });
    stream.delta({ content: [{ type: "thinking", thinking: [{ type: "text", text: hidden }] }] });
    for (const chunk of chunks) stream.delta({ content: chunk, reasoning_content: hidden });
    stream.finish();
    stream.done();
  };
};

/** Checks what a person sees live: no word that the answer does not hold, unless it is taken back. */
function expectPreview(one: Variant, events: readonly { event?: string | undefined; data: string }[]): void {
  let shown = "";
  for (const { event, data } of events) {
    const { text, reason } = z
      .object({ text: z.string().optional(), reason: z.string().optional() })
      .parse(JSON.parse(data));
    if (event === "reset") {
      expect([reason, isOrphan(one)], `${one.name}: a reset`).toEqual(["reasoning", true]);
      shown = "";
    }
    if (event === "delta") shown += text ?? "";
    if (event === "delta" && !isOrphan(one)) expect(plain(one.visible), one.name).toContain(plain(shown));
  }
  expect(plain(shown), `${one.name}: the preview at the end, chunks ${JSON.stringify(one.chunks)}`).toBe(
    plain(one.visible),
  );
}

async function checkStreamed(one: Variant): Promise<void> {
  const what = `${one.name}: ${JSON.stringify(one.chunks)}`;
  const events = await followEvents(system(), one.id);
  const chat = new Conversation(system(), one.id);
  const { final } = await chat.say(one.id);
  await events.next(({ event }) => event === "final");
  events.close();
  expectPreview(one, events.events);
  const messages = await chat.messages();
  expectValidHistory(messages);
  const next = `next ${one.id}`;
  await chat.say(next);
  const asked = await system().model.waitForRequest((request) => request.lastUser === next);
  const all = JSON.stringify([events.events, final, messages, asked.body.messages]);
  if (one.reasoning_content !== undefined) expect(all, what).not.toContain(one.reasoning_content);
  if (one.onlyReasoning) {
    expect(final, what).toMatchObject({ kind: "error", error: { code: "empty_answer" } });
    expect(final.text).not.toBe("");
    expect(events.events.filter(({ event }) => event === "delta")).toEqual([]);
    expect(timesAsked(one.id), what).toBe(3);
    expect(shownTo(asked), what).toEqual([`user: ${one.id}`, `user: ${next}`]);
    return;
  }
  expect(final.kind, what).toBe("answer");
  expect(plain(final.text), what).toBe(plain(one.visible));
  expect(plain(messages[1]?.content ?? ""), what).toBe(plain(one.visible));
  expect(shownTo(asked).map(plain), what).toEqual([
    `user: ${one.id}`,
    plain(`assistant: ${one.visible}`),
    `user: ${next}`,
  ]);
}

const timesAsked = (text: string): number => system().model.requests.filter(({ lastUser }) => lastUser === text).length;

/** Plays each variant to whoever says its id. */
function play(variants: readonly Variant[], prefix = ""): void {
  const byId = new Map(variants.map((one) => [`${prefix}${one.id}`, answerOf(one)]));
  system().model.reply((request, respond) => {
    const answer = byId.get(request.lastUser);
    if (answer === undefined) respond.text(`echo: ${request.lastUser}`);
    else return answer(request, respond);
  });
}

describe("reasoning", () => {
  const variants = cases.flatMap(variantsOf);

  it("never reaches the person, the history or the next request, however cut into chunks", {
    timeout: 300_000,
  }, async () => {
    play(variants);
    await each(variants, PARALLEL, checkStreamed);
    console.log(`reasoning: ${variants.length} cuts of ${cases.length} answers`);
    expect(system().model.failures).toEqual([]);
  });

  it("never reaches a client of the OpenAI protocol", async () => {
    play(variants, "ask ");
    await each(variants, PARALLEL, async (one) => {
      const { status, body } = await system().api("/v1/chat/completions", { json: completionOf(`ask ${one.id}`) });
      const content = z.object({ choices: z.array(z.object({ message: z.object({ content: z.string() }) })) });
      if (one.onlyReasoning) expect([status, body]).toMatchObject([500, { error: { code: "empty_answer" } }]);
      else expect(plain(content.parse(body).choices[0]?.message.content ?? ""), one.name).toBe(plain(one.visible));
      expect(JSON.stringify(body)).not.toContain(one.reasoning_content ?? "<none>");
    });
  });

  it("never reaches a streamed completion; words that turn out to be reasoning end it with an error", async () => {
    play(variants, "stream ");
    let takenBack = 0;
    await each(variants, PARALLEL, async (one) => {
      const { text, code, raw } = await streamCompletion(system(), completionOf(`stream ${one.id}`));
      expect(raw).not.toContain(one.reasoning_content ?? "<none>");
      if (one.onlyReasoning) return expect([text, code], one.name).toEqual(["", "empty_answer"]);
      if (code === "stream_reset" && isOrphan(one)) takenBack += 1;
      else
        expect([plain(text), code], `${one.name}: ${JSON.stringify(one.chunks)}`).toEqual([plain(one.visible), null]);
    });
    expect(takenBack).toBeGreaterThan(0);
  });

  it("is not shown beside a tool call either", async () => {
    const calling = cases.map((one, n) => ({ ...one, id: `call${n}` }));
    const byId = new Map(calling.map((one) => [one.id, one]));
    system().model.reply((request, respond) => {
      const one = byId.get(request.lastUser);
      if (one === undefined || request.body.messages?.at(-1)?.role === "tool") return respond.text("done");
      const stream = respond.stream();
      for (const chunk of one.chunks)
        stream.delta({ content: chunk, reasoning_content: one.reasoning_content ?? null });
      stream.delta({ tool_calls: [{ index: 0, id: "c", function: { name: "echo", arguments: '{"text":"x"}' } }] });
      stream.finish("tool_calls");
      stream.done();
    });
    await each(calling, PARALLEL, async (one) => {
      const chat = new Conversation(system(), one.id);
      const events = await followEvents(system(), one.id);
      expect((await chat.say(one.id)).final.text).toBe("done");
      await events.next(({ event }) => event === "final");
      events.close();
      const before = events.events.findIndex(({ event }) => event === "tool");
      expectPreview({ ...one, id: "" }, events.events.slice(0, before));
      const messages = await chat.messages();
      expectValidHistory(messages);
      expect(plain(messages[1]?.content ?? ""), one.name).toBe(plain(one.visible));
      if (one.visible === "") expect(messages[1]?.content).toBeNull();
      const asked = system().model.requests.find(
        ({ lastUser, body }) => lastUser === one.id && body.messages?.at(-1)?.role === "tool",
      );
      const said = z
        .string()
        .nullish()
        .parse(asked?.body.messages?.find(({ role }) => role === "assistant")?.content);
      expect(plain(said ?? ""), one.name).toBe(plain(one.visible));
    });
  });

  it("alone, in fields of its own, is no answer", async () => {
    system().model.reply((_request, respond) => {
      const stream = respond.stream();
      stream.delta({ content: "", reasoning_content: "hidden", reasoning: "hidden", thinking: "hidden" });
      stream.finish();
      stream.done();
    });
    const chat = new Conversation(system(), "fields");
    expect((await chat.say("think only")).final).toMatchObject({ kind: "error", error: { code: "empty_answer" } });
    expect(timesAsked("think only")).toBe(3);
    expect(JSON.stringify(await chat.messages())).not.toContain("hidden");
  });
});

const completionOf = (content: string) => ({ model: "troupe", messages: [{ role: "user", content }] });
