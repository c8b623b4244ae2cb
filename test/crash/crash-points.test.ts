import type { ServiceProcess } from "@troupe/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Conversation } from "../system/conversation.js";
import { type CrashPoint, killAt, subjectsOf } from "../system/crash-point.js";
import { OutboxRecord } from "../system/outbox-record.js";
import { useTroupe } from "../system/use-troupe.js";
import { expectValidHistory, outline } from "../system/valid-history.js";
import { startWireTap, type WireTap } from "../system/wire-tap.js";

const system = useTroupe({ orchestrators: 0 });
const all: { tap: WireTap; service: ServiceProcess }[] = [];
let record: OutboxRecord;

beforeAll(async () => {
  record = await OutboxRecord.open(system());
  for (const _ of ["one", "other"]) {
    const tap = await startWireTap(system().natsUrl);
    all.push({ tap, service: await system().addOrchestrator({ NATS_URL: tap.url }) });
  }
});
afterAll(async () => {
  await record.close();
  // The services leave before what they are connected through.
  await Promise.all(all.map(({ service }) => service.stop()));
  await Promise.all(all.map(({ tap }) => tap.close()));
});
beforeEach(async () => {
  for (const { tap, service } of all) {
    tap.before = () => "pass";
    tap.after = () => undefined;
    if (!service.isRunning) await service.start();
  }
});

type Points = (session: string) => readonly CrashPoint[];

/** A plain turn writes the state twice: message, lease and model call; then answer and release. */
const plainTurn: Points = (session) => {
  const { read, write, outbox } = subjectsOf(session);
  const isWrite = ({ subject }: { subject: string }): boolean => subject === write;
  return [
    { name: "loaded", isLast: ({ subject }) => subject === read, dies: "after" },
    { name: "decided, message not committed", isLast: isWrite, dies: "before" },
    { name: "message committed, model not asked", isLast: isWrite, dies: "after" },
    { name: "decided, answer not committed", isLast: isWrite, skip: 1, dies: "before" },
    { name: "answer committed, nothing published", isLast: isWrite, skip: 1, dies: "after" },
    { name: "about to publish", isLast: ({ subject }) => subject === outbox, dies: "before" },
    { name: "published, not acked", isLast: ({ subject }) => subject === outbox, dies: "after" },
    {
      name: "acked",
      isLast: ({ subject, body }) => subject.startsWith("$JS.ACK.MAIL") && body === "+ACK",
      dies: "after",
    },
  ];
};

const names = plainTurn("http:x").map(({ name }, n) => [name, n] as const);

describe("an orchestrator killed at a point of a plain turn", () => {
  it.each(names)("%s: one answer, nothing lost, and the conversation goes on", async (_name, n) => {
    const session = `http:plain-${n}`;
    const chat = new Conversation(system(), session);
    const point = plainTurn(session)[n];
    if (point === undefined) throw new Error("no such point");
    const killed = killAt(point, all);
    const { final } = await chat.say("hello", { id: "a" });
    await killed;
    expect(final).toMatchObject({ kind: "answer", text: "echo: hello" });
    expect((await chat.say("and more", { id: "b" })).final).toMatchObject({ text: "echo: and more" });
    expect((await chat.say("hello", { id: "a" })).final).toEqual(final);
    expect((await record.finals(session)).map(({ text }) => text)).toEqual(["echo: hello", "echo: and more"]);
    const messages = await chat.messages();
    expectValidHistory(messages);
    expect(outline(messages)).toEqual([
      "user: hello",
      "assistant: echo: hello",
      "user: and more",
      "assistant: echo: and more",
    ]);
  });
});

describe("an orchestrator killed while tools are outstanding", () => {
  it.each([
    ["the calls are committed and none has run", 1],
    ["some results are committed", 2],
  ] as const)("%s: each call has one result, and the answer comes once", async (_name, skip) => {
    const session = `http:tools-${skip}`;
    const chat = new Conversation(system(), session);
    const { write } = subjectsOf(session);
    const isLast = ({ subject }: { subject: string }): boolean => subject === write;
    const take = system().model.when(session, (request, respond) => {
      const hasResults = request.body.messages?.some(({ role }) => role === "tool") === true;
      if (hasResults) return respond.text("both are done");
      return respond.calls([
        { id: "a", name: "echo", arguments: { text: "one" } },
        { id: "b", name: "now", arguments: {} },
      ]);
    });
    const killed = killAt({ name: "calls", isLast, skip, dies: "after" }, all);
    const { final } = await chat.say(session);
    await killed;
    take();
    expect(final).toMatchObject({ kind: "answer", text: "both are done" });
    expect(await record.finals(session)).toEqual([final]);
    const messages = await chat.messages();
    expectValidHistory(messages);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "assistant"]);
    // Both only read, so they may be run again: nobody has to be told that the outcome is unknown.
    expect(messages.filter((message) => message.role === "tool" && message.isError)).toEqual([]);
  });
});
