import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { Conversation } from "../system/conversation.js";
import { followEvents } from "../system/event-reader.js";
import { OutboxRecord } from "../system/outbox-record.js";
import { useTroupe } from "../system/use-troupe.js";
import { expectValidHistory, outline } from "../system/valid-history.js";
import { shownTo, streamCompletion } from "./wire-reading.js";

/** What becomes of a message that comes while a turn is running, as each channel has it. */
const configOf = (mode: string): string => `channels: { http: { secondMessage: ${mode} } }\nturn: { noticeMs: 150 }\n`;
const TOOL = [{ id: "c", name: "echo", arguments: { text: "x" } }];

/** Every accepted message has exactly one final: read from where they are published. */
async function finalsOf(system: ReturnType<ReturnType<typeof useTroupe>>, session: string) {
  const record = await OutboxRecord.open(system);
  const finals = await record.finals(session);
  await record.close();
  expect(new Set(finals.map(({ turn }) => turn)).size, "one final each").toBe(finals.length);
  return finals;
}

describe("queue", () => {
  const system = useTroupe({ config: configOf("queue") });

  it("answers each message in a turn of its own, in order", async () => {
    const chat = new Conversation(system(), "queue");
    const gate = system().model.hold("first");
    const first = chat.say("first");
    await gate.arrived;
    const second = await chat.send("second");
    const third = await chat.send("third");
    await chat.until("two wait", ({ queued }) => queued === 2);
    const fourth = await chat.post("fourth", { wait: 0.1 });
    expect(fourth.body).toMatchObject({ status: "waiting", waitingFor: [{ kind: "queue", id: third.turn }] });
    gate.release();
    const { turn } = await first;
    await chat.until("all are done", (view) => view.turn === null && view.queued === 0 && view.messageCount === 8);
    const finals = await finalsOf(system(), "http:queue");
    expect(finals.map(({ kind }) => kind)).toEqual(["answer", "answer", "answer", "answer"]);
    expect(finals.map((final) => final.turn).slice(0, 3)).toEqual([turn, second.turn, third.turn]);
    const messages = await chat.messages();
    expectValidHistory(messages);
    expect(outline(messages).slice(0, 4)).toEqual([
      "user: first",
      "assistant: echo: first",
      "user: second",
      "assistant: echo: second",
    ]);
  });

  it("tells now and then that it is still at work, and never after the answer", async () => {
    const chat = new Conversation(system(), "patience");
    const events = await followEvents(system(), "patience");
    const gate = system().model.hold("slow");
    const answer = chat.say("slow");
    const first = await events.next(({ event }) => event === "notice");
    const { turn } = await chat.view();
    await events.next(({ event, id }) => event === "notice" && id !== first.id);
    gate.release();
    await answer;
    await events.next(({ event }) => event === "final");
    const Notice = z.object({ turn: z.string(), level: z.enum(["info", "warn"]), text: z.string().min(1) });
    const notices = events.events.filter(({ event }) => event === "notice");
    for (const { data, id } of notices) {
      expect(Notice.parse(JSON.parse(data)).turn).toBe(turn?.id);
      expect(id).toMatch(/^\d+$/);
    }
    const resumed = await followEvents(system(), "patience", String(Number(notices[0]?.id) - 1));
    await resumed.next(({ event }) => event === "final");
    await chat.say("quick");
    await resumed.next(({ event, data }) => event === "final" && data.includes("echo: quick"));
    const durable = resumed.events.filter(({ id }) => id !== undefined).map(({ event }) => event);
    expect(durable).toEqual([...notices.map(() => "notice"), "final", "final"]);
    events.close();
    resumed.close();
  });
});

describe("steer", () => {
  const system = useTroupe({ config: configOf("steer") });

  it("shows the message to the model at its next step; its own final names the turn that took it in", async () => {
    const chat = new Conversation(system(), "steer");
    const gate = system().model.hold("plan a trip", (_request, respond) => respond.calls(TOOL));
    const first = chat.say("plan a trip");
    await gate.arrived;
    const second = await steer(chat, "to Rome");
    const third = await steer(chat, "by train");
    gate.release();
    const { turn, final } = await first;
    for (const merged of [await second.final, await third.final]) {
      expect(merged).toMatchObject({ kind: "merged", mergedInto: turn, error: null, introduction: null });
    }
    expect(final.kind).toBe("answer");
    const asked = system().model.requests.findLast(({ body }) => JSON.stringify(body.messages).includes("to Rome"));
    const said = asked === undefined ? [] : shownTo(asked);
    expect(said.slice(-3)).toEqual(["tool: x", "user: to Rome", "user: by train"]);
    const messages = await chat.messages();
    expectValidHistory(messages);
    expect(messages.every((message) => message.turn === turn)).toBe(true);
    expect((await finalsOf(system(), "http:steer")).map(({ kind }) => kind).sort()).toEqual([
      "answer",
      "merged",
      "merged",
    ]);
    expect(await chat.say("to Rome", { id: "to Rome" })).toMatchObject({ duplicate: true, final: { kind: "merged" } });
  });

  it("of a turn that was about to answer says that answer and goes on", async () => {
    const chat = new Conversation(system(), "late");
    const gate = system().model.hold("what is up");
    const first = chat.say("what is up");
    await gate.arrived;
    const second = await steer(chat, "and down?");
    gate.release();
    expect((await first).final.text).toBe("echo: and down?");
    expect(await second.final).toMatchObject({ kind: "merged", mergedInto: (await first).turn });
    expect(outline(await chat.messages())).toEqual([
      "user: what is up",
      "assistant: echo: what is up",
      "user: and down?",
      "assistant: echo: and down?",
    ]);
  });

  it("that finds its turn cancelled is cancelled with it", async () => {
    const chat = new Conversation(system(), "steer-cancel");
    const gate = system().model.hold("never mind");
    const first = chat.say("never mind");
    await gate.arrived;
    const second = await steer(chat, "at all");
    await chat.control("cancel");
    expect([(await first).final.kind, (await second.final).kind]).toEqual(["cancelled", "cancelled"]);
    gate.release();
    expect((await chat.say("hello")).final.text).toBe("echo: hello");
  });

  it("gives a client of the OpenAI protocol the answer of the turn that took its message in", async () => {
    const chat = new Conversation(system(), "steer-openai");
    const gate = system().model.hold("begin");
    const first = chat.say("begin");
    await gate.arrived;
    const request = { model: "troupe", user: "steer-openai", messages: [{ role: "user", content: "join in" }] };
    const whole = system().api("/v1/chat/completions", { json: request, headers: { "idempotency-key": "one" } });
    await withTheTurn(chat, "join in", "one");
    const other = { ...request, messages: [{ role: "user", content: "me too" }] };
    const streamed = streamCompletion(system(), other, { "idempotency-key": "two" });
    await withTheTurn(chat, "me too", "two");
    gate.release();
    const { final } = await first;
    expect((await whole).body).toMatchObject({ choices: [{ message: { content: final.text } }] });
    expect(await streamed).toMatchObject({ text: final.text, code: null });
  });
});

describe("interrupt", () => {
  const system = useTroupe({ config: configOf("interrupt") });

  it("ends the running turn as cancelled, hangs up on its model, and answers the new message", async () => {
    const chat = new Conversation(system(), "interrupt");
    const gate = system().model.hold("a long story");
    const first = chat.say("a long story");
    const asked = await gate.arrived;
    const second = await chat.say("stop, the short one");
    expect((await first).final).toMatchObject({ kind: "cancelled", error: null, mergedInto: null });
    expect(second.final).toMatchObject({ kind: "answer", text: "echo: stop, the short one" });
    expect(await asked.over).toEqual({ clientLeft: true });
    gate.release();
    const messages = await chat.messages();
    expectValidHistory(messages);
    expect(outline(messages)).toEqual([
      "user: a long story",
      "user: stop, the short one",
      "assistant: echo: stop, the short one",
    ]);
    expect((await finalsOf(system(), "http:interrupt")).map(({ kind }) => kind)).toEqual(["cancelled", "answer"]);
  });

  it("many times in a row leaves one answer, to the last message", async () => {
    const chat = new Conversation(system(), "impatient");
    const gate = system().model.hold("knock 0");
    const first = chat.send("knock 0");
    await gate.arrived;
    await first;
    for (let n = 1; n < 8; n += 1) await chat.send(`knock ${n}`);
    expect((await chat.say("who is there?")).final.text).toBe("echo: who is there?");
    const finals = await finalsOf(system(), "http:impatient");
    expect(finals).toHaveLength(9);
    expect(finals[0]?.kind).toBe("cancelled");
    expect(finals.at(-1)).toMatchObject({ kind: "answer", text: "echo: who is there?" });
    expectValidHistory(await chat.messages());
    gate.release();
  });
});

describe("the introduction, from a template of the channel's language", () => {
  const config =
    'agent: { name: Ada, language: de }\nintroduction: { enabled: true, templates: { http.de: "Ich bin {agent}. {agent}!", http: "wrong", default: "wrong" } }\n';
  const system = useTroupe({ config });
  const text = "Ich bin Ada. Ada!";

  it("comes with the first answer of a generation: not with an error or a completion, and again after a reset", async () => {
    const chat = new Conversation(system(), "intro");
    const request = { model: "troupe", user: "intro", messages: [{ role: "user", content: "as a program" }] };
    expect(await streamCompletion(system(), request)).toMatchObject({ text: "echo: as a program", code: null });
    system().model.enqueue((_request, respond) => respond.status(401));
    expect((await chat.say("fails")).final).toMatchObject({ kind: "error", introduction: null });
    const gate = system().model.hold("cancelled");
    const cancelled = chat.say("cancelled");
    await gate.arrived;
    await chat.control("cancel");
    expect((await cancelled).final).toMatchObject({ kind: "cancelled", introduction: null });
    gate.release();
    system().model.enqueue((_request, respond) => respond.calls(TOOL));
    const { final } = await chat.say("hello");
    expect(final).toMatchObject({ introduction: text, text: `${text}\n\necho: hello` });
    expect((await chat.messages())[final.index]?.content).toBe(final.text);
    expect((await chat.say("more")).final).toMatchObject({ introduction: null, text: "echo: more" });
    expect(await streamCompletion(system(), request)).toMatchObject({ text: "echo: as a program", code: null });
    await chat.control("reset");
    const again = await chat.say("hello", { id: "again" });
    expect(again.final.introduction).toBe(text);
    expect(await chat.say("hello", { id: "again" })).toEqual({ ...again, duplicate: true });
  });
});

/** Sends a message and waits until it is with the running turn; then waits for its final. */
async function steer(chat: Conversation, text: string) {
  await withTheTurn(chat, text, text);
  return { final: chat.say(text, { id: text }).then(({ final }) => final) };
}

/** Resolves when the message waits for the model, and no longer for a turn of its own. */
function withTheTurn(chat: Conversation, text: string, id: string): Promise<void> {
  return vi.waitFor(
    async () => {
      const { body } = await chat.post(text, { id, wait: 0.05 });
      expect(body).toMatchObject({ status: "waiting", waitingFor: [{ kind: "model" }] });
    },
    { interval: 10 },
  );
}
