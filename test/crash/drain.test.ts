import type { ProcessEnd, ServiceProcess } from "@troupe/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Conversation } from "../system/conversation.js";
import { OutboxRecord } from "../system/outbox-record.js";
import { ownerOf } from "../system/owner-of.js";
import { useTroupe } from "../system/use-troupe.js";
import { expectValidHistory, outline } from "../system/valid-history.js";

/** An orchestrator that was asked to end while a turn of its waits for the model, and what still reaches that turn. */
const EXIT_MS = 10_000;
const GOOD_END: ProcessEnd = { code: 0, signal: null };

const system = useTroupe({ orchestrators: 2 });
let record: OutboxRecord;

beforeAll(async () => {
  record = await OutboxRecord.open(system());
});
afterAll(() => record.close());
beforeEach(async () => {
  const ended = system().orchestrators.filter(({ isRunning }) => !isRunning);
  await Promise.all(ended.map((service) => service.start()));
});

interface Drain {
  readonly owner: ServiceProcess;
  /** How it ended, and how long after it was asked to. */
  readonly ended: Promise<{ readonly end: ProcessEnd | undefined; readonly tookMs: number }>;
}

/** Asks the owner of a conversation to end; resolves when it has begun to. */
async function drainOwner(chat: Conversation): Promise<Drain> {
  const owner = await ownerOf(system(), chat);
  const mark = owner.output.mark;
  const askedAt = performance.now();
  const ended = owner.kill("SIGTERM").then((end) => ({ end, tookMs: performance.now() - askedAt }));
  await owner.output.waitFor('"msg":"draining"', mark);
  return { owner, ended };
}

const timesAsked = (text: string): number => system().model.requests.filter(({ lastUser }) => lastUser === text).length;

async function expectFinals(chat: Conversation, texts: readonly string[]): Promise<void> {
  expect((await record.finals(`http:${chat.id}`)).map(({ text }) => text)).toEqual(texts);
  expectValidHistory(await chat.messages());
}

describe("a message for an orchestrator that drains", () => {
  it("is taken by it, and the answer that comes in time is its own", async () => {
    const chat = new Conversation(system(), "in-time");
    const gate = system().model.hold("in time");
    const first = chat.say("in time");
    await gate.arrived;
    const { owner, ended } = await drainOwner(chat);
    await chat.send("and then?", { id: "second" });
    const view = await chat.until("the second message is taken in", ({ queued }) => queued === 1);
    expect(view.lease?.owner).toContain(String(await owner.field("orchestrator ready", "processId")));
    gate.release();
    expect((await first).final).toMatchObject({ kind: "answer", text: "echo: in time" });
    expect((await chat.say("and then?", { id: "second" })).final.text).toBe("echo: and then?");
    const { end, tookMs } = await ended;
    expect(end).toEqual(GOOD_END);
    expect(tookMs).toBeLessThan(EXIT_MS);
    expect([timesAsked("in time"), timesAsked("and then?")]).toEqual([1, 1]);
    await expectFinals(chat, ["echo: in time", "echo: and then?"]);
  });

  it("waits behind a turn that is handed over: no model is asked twice at a time, both are answered in order", async () => {
    const chat = new Conversation(system(), "handed-over");
    const [gate, next] = [system().model.hold("take long"), system().model.hold("take long")];
    const first = chat.say("take long");
    const call = await gate.arrived;
    const { ended } = await drainOwner(chat);
    await chat.send("what else?", { id: "second" });
    await chat.until("the second message is taken in", ({ queued }) => queued === 1);
    await next.arrived;
    expect(await call.over).toEqual({ clientLeft: true });
    const { end, tookMs } = await ended;
    expect(end).toEqual(GOOD_END);
    expect(tookMs).toBeLessThan(EXIT_MS);
    next.release();
    expect((await first).final).toMatchObject({ kind: "answer", text: "echo: take long" });
    expect((await chat.say("what else?", { id: "second" })).final.text).toBe("echo: what else?");
    gate.release();
    expect([timesAsked("take long"), timesAsked("what else?")]).toEqual([2, 1]);
    await expectFinals(chat, ["echo: take long", "echo: what else?"]);
    expect(outline(await chat.messages())).toHaveLength(4);
  });
});

describe("a cancel for an orchestrator that drains", () => {
  it("ends the turn and what waits behind it at once, and the drain with it", async () => {
    const chat = new Conversation(system(), "cancelled");
    const gate = system().model.hold("never mind");
    const first = chat.say("never mind");
    const call = await gate.arrived;
    const { ended } = await drainOwner(chat);
    await chat.send("neither this", { id: "second" });
    expect(await chat.control("cancel")).toMatchObject({ status: 200, body: { cancelled: true } });
    const third = chat.say("but this");
    expect((await first).final.kind).toBe("cancelled");
    expect(await call.over).toEqual({ clientLeft: true });
    expect((await third).final.text).toBe("echo: but this");
    const { end, tookMs } = await ended;
    expect(end).toEqual(GOOD_END);
    console.log(`a cancel ended the drain ${Math.round(tookMs)} ms after it had begun`);
    expect(tookMs).toBeLessThan(EXIT_MS);
    gate.release();
    expect([timesAsked("never mind"), timesAsked("neither this"), timesAsked("but this")]).toEqual([1, 0, 1]);
    expect((await record.finals("http:cancelled")).map(({ kind }) => kind)).toEqual([
      "cancelled",
      "cancelled",
      "answer",
    ]);
    expectValidHistory(await chat.messages());
  });
});
