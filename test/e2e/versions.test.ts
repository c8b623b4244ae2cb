import {
  deadSubject,
  liveSubject,
  mailSubject,
  outboxSubject,
  parseSessionId,
  type SessionKey,
} from "@troupe/contracts";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { Conversation } from "../system/conversation.js";
import { followEvents } from "../system/event-reader.js";
import { OutboxRecord } from "../system/outbox-record.js";
import { useTroupe } from "../system/use-troupe.js";
import { expectValidHistory, outline } from "../system/valid-history.js";
import { BareNats } from "./hostile-nats.js";

/** What services of another version have left in the buckets and streams, beside which these services work. */
const system = useTroupe();
let nats: BareNats;
let record: OutboxRecord;

beforeAll(async () => {
  nats = await BareNats.open(system().nats);
  record = await OutboxRecord.open(system());
});
afterAll(async () => {
  nats.close();
  await record.close();
});

function keyOf(session: string): SessionKey {
  const parsed = parseSessionId(session);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.key;
}

const Stored = z.looseObject({
  schema: z.number(),
  fields: z.looseObject({ log: z.looseObject({}) }),
});
type Stored = z.infer<typeof Stored>;

const entryText = (id: string): Promise<string | null> => nats.last("KV_sessions", `$KV.sessions.${keyOf(id)}`);

/** The entry of a conversation as it lies in its bucket. */
async function stored(id: string): Promise<Stored> {
  return Stored.parse(JSON.parse((await entryText(id)) ?? "null"));
}

async function store(id: string, entry: unknown): Promise<void> {
  expect(await nats.ask(`$KV.sessions.${keyOf(id)}`, JSON.stringify(entry))).toContain(`"seq"`);
}

async function served(id: string): Promise<void> {
  expect((await new Conversation(system(), id).say("hello")).final.text).toBe("echo: hello");
}

/** Waits until the orchestrator has left something alone so many times more. */
async function leftAlone(times: number, kind: "newer" | "unreadable" = "newer"): Promise<void> {
  const [orchestrator] = system().orchestrators;
  const count = async (): Promise<number> => (await orchestrator?.metric("troupe_kernel_events_total", { kind })) ?? 0;
  const before = await count();
  await vi.waitFor(async () => expect(await count()).toBeGreaterThanOrEqual(before + times), { timeout: 60_000 });
}

const linesAbout = (id: string, what = "left to a newer service"): string[] =>
  system().orchestrators.flatMap(({ output }) =>
    output.lines.filter((line) => line.includes(what) && line.includes(`"${keyOf(id)}"`)),
  );

describe("a conversation whose state a newer service has written", () => {
  it("is left alone with its mail, which is answered by whoever knows that form", async () => {
    const chat = new Conversation(system(), "future");
    await chat.say("hello");
    const known = await stored("future");
    const newer = { ...known, schema: known.schema + 1, fields: { inAnotherForm: true } };
    await store("future", newer);
    await chat.send("are you there?", { id: "a" });
    await leftAlone(3);
    await served("present");
    expect(await entryText("future")).toBe(JSON.stringify(newer));
    expect(await nats.last("DEAD", deadSubject("mail", keyOf("future")))).toBeNull();
    expect(await nats.last("MAIL", mailSubject("session", keyOf("future"), "in"))).toContain("are you there?");
    expect(linesAbout("future"), "said once").toHaveLength(1);
    expect((await record.finals("http:future")).map(({ text }) => text)).toEqual(["echo: hello"]);
    // As if one that knows the form had taken over; to these services it is one that they know.
    await store("future", known);
    expect((await chat.say("are you there?", { id: "a" })).final.text).toBe("echo: are you there?");
    expect(outline(await chat.messages())).toEqual([
      "user: hello",
      "assistant: echo: hello",
      "user: are you there?",
      "assistant: echo: are you there?",
    ]);
  });
});

describe("a conversation whose state is damaged", () => {
  it("waits with its mail until somebody has repaired it, and says so once", async () => {
    const chat = new Conversation(system(), "damaged");
    await chat.say("hello");
    const known = await stored("damaged");
    await store("damaged", { ...known, fields: { log: "gone" } });
    await chat.send("are you there?", { id: "a" });
    await leftAlone(2, "unreadable");
    await served("sound");
    expect(linesAbout("damaged", "cannot be read"), "said once").toHaveLength(1);
    expect(await nats.last("DEAD", deadSubject("mail", keyOf("damaged")))).toBeNull();
    await store("damaged", known);
    expect((await chat.say("are you there?", { id: "a" })).final.text).toBe("echo: are you there?");
    expect((await record.finals("http:damaged")).map(({ text }) => text)).toEqual([
      "echo: hello",
      "echo: are you there?",
    ]);
  });
});

describe("a conversation whose state an older service has written", () => {
  it("is read and gone on with", async () => {
    const chat = new Conversation(system(), "past");
    await chat.say("hello");
    const { fields, ...head } = await stored("past");
    const { segments: _segments, ...log } = fields.log;
    const { summarising: _summarising, ...others } = fields;
    await store("past", { ...head, fields: { ...others, log, ofNoUseAnyMore: 1 } });
    expect((await chat.history()).total).toBe(2);
    expect((await chat.say("and now?")).final.text).toBe("echo: and now?");
    expect((await record.finals("http:past")).map(({ text }) => text)).toEqual(["echo: hello", "echo: and now?"]);
    expectValidHistory(await chat.messages());
    expect((await stored("past")).fields.log).toHaveProperty("segments", []);
  });
});

describe("mail of a newer version", () => {
  it("keeps what comes after it in its conversation waiting, is said once, and keeps nobody else waiting", async () => {
    const chat = new Conversation(system(), "mail");
    await chat.say("hello");
    const subject = mailSubject("session", keyOf("mail"), "in");
    const newer = JSON.stringify({ v: 2, id: "new", kind: "wish", wish: "for rain" });
    expect(await nats.ask(subject, newer)).toContain(`"seq"`);
    await chat.send("after it", { id: "a" });
    await leftAlone(3);
    await served("beside");
    expect(await nats.last("DEAD", deadSubject("mail", keyOf("mail")))).toBeNull();
    expect(await nats.last("MAIL", subject)).toContain("after it");
    expect(linesAbout("mail")).toHaveLength(1);
    expect((await chat.history()).total).toBe(2);
  });
});

describe("replies and previews of a newer version", () => {
  it("are left to newer gateways: streams and waiting requests go on past them", async () => {
    const events = await followEvents(system(), "reply");
    const chat = new Conversation(system(), "reply");
    const gate = system().model.hold("what do you say?");
    const waiting = chat.say("what do you say?");
    await gate.arrived;
    const { turn } = await chat.view();
    const of = { v: 2, id: "r", session: "http:reply", final: { turn: turn?.id, said: "in another form" } };
    expect(await nats.ask(outboxSubject(keyOf("reply")), JSON.stringify({ ...of, kind: "final" }))).toContain(`"seq"`);
    nats.tell(liveSubject(keyOf("reply")), JSON.stringify({ ...of, kind: "delta" }));
    gate.release();
    const { final } = await waiting;
    expect(final.text).toBe("echo: what do you say?");
    const told = await events.next(({ event }) => event === "final");
    expect(JSON.parse(told.data)).toEqual(final);
    events.close();
    const replayed = await followEvents(system(), "reply", "0");
    expect(JSON.parse((await replayed.next(({ event }) => event === "final")).data)).toEqual(final);
    replayed.close();
  });
});
