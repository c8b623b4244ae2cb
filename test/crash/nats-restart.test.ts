import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Conversation } from "../system/conversation.js";
import { OutboxRecord } from "../system/outbox-record.js";
import { useTroupe } from "../system/use-troupe.js";
import { expectValidHistory, outline } from "../system/valid-history.js";

const system = useTroupe({ orchestrators: 2 });
const talk = (id: string): Conversation => new Conversation(system(), id);
let record: OutboxRecord;

beforeAll(async () => {
  record = await OutboxRecord.open(system());
});
afterAll(() => record.close());

describe("the NATS server down", () => {
  it("makes the gateway say so, with a time to come back, and half accepts nothing", async () => {
    const chat = talk("down");
    await chat.say("before");
    await system().nats.kill();
    const refused = await chat.post("now?", { id: "a" });
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await system().api("/readyz")).status).toBe(503);
    expect((await system().api("/healthz")).status).toBe(200);
    await system().nats.restart();
    expect(await chat.sayThroughOutage("now?", "a")).toMatchObject({ duplicate: false, final: { text: "echo: now?" } });
    expect((await system().api("/readyz")).status).toBe(200);
    expect(outline(await chat.messages()).slice(-2)).toEqual(["user: now?", "assistant: echo: now?"]);
  });
});

describe.each(["SIGKILL", "SIGTERM"] as const)("the NATS server ended by %s and started again", (signal) => {
  it("in the middle of a turn: the client that waits gets its one answer", async () => {
    const id = `turn-${signal}`;
    const chat = talk(id);
    const gate = system().model.hold(id);
    const waiting = chat.say(`hello ${id}`, { id: "a" });
    await gate.arrived;
    await system().restartNats(signal);
    gate.release();
    const { final } = await waiting;
    expect(final).toMatchObject({ kind: "answer", text: `echo: hello ${id}` });
    expect(await record.finals(`http:${id}`)).toEqual([final]);
    expect((await chat.say("and more")).final.text).toBe("echo: and more");
    expectValidHistory(await chat.messages());
  });

  it("while the model's answer is already there and cannot be stored: nothing is lost", async () => {
    const id = `answer-${signal}`;
    const chat = talk(id);
    const gate = system().model.hold(id);
    await chat.send(`hello ${id}`, { id: "a" });
    const request = await gate.arrived;
    await system().nats.kill(signal);
    gate.release();
    await request.over;
    await system().nats.restart();
    const { final } = await chat.sayThroughOutage(`hello ${id}`, "a");
    expect(final).toMatchObject({ kind: "answer", text: `echo: hello ${id}` });
    expect(await record.finals(`http:${id}`)).toEqual([final]);
    expect(outline(await chat.messages())).toEqual([`user: hello ${id}`, `assistant: echo: hello ${id}`]);
  });

  it("between two sendings of the same message: it is still the same", async () => {
    const chat = talk(`again-${signal}`);
    const first = await chat.say("once", { id: "a" });
    // The server's own memory of message ids goes with what has been taken out of the queue.
    await system().restartNats(signal);
    await vi.waitFor(async () => expect((await system().api("/readyz")).status).toBe(200));
    expect(await chat.say("once", { id: "a" })).toEqual({ ...first, duplicate: true });
    expect((await chat.post("twice", { id: "a" })).status).toBe(409);
    expect((await chat.history()).total).toBe(2);
  });

  it("while 20 sessions are busy: every message gets exactly one answer", async () => {
    const sessions = Array.from({ length: 20 }, (_, n) => `busy-${signal}-${n}`);
    const texts = ["one", "two", "three", "four"];
    const begun = system().model.requests.length;
    const talks = sessions.map(async (id) => {
      const answers = [];
      for (const text of texts) answers.push(await talk(id).sayThroughOutage(`${text} ${id}`, text));
      return answers;
    });
    // In full swing: some turns are over, others are under way.
    await system().model.waitForRequest(begun + 25);
    await system().restartNats(signal);
    const all = await Promise.all(talks);
    for (const [n, id] of sessions.entries()) {
      const finals = all[n]?.map(({ final }) => final);
      expect(finals?.map(({ kind, text }) => `${kind} ${text}`)).toEqual(
        texts.map((text) => `answer echo: ${text} ${id}`),
      );
      expect(await record.finals(`http:${id}`)).toEqual(finals);
      expectValidHistory(await talk(id).messages());
    }
  });
});
