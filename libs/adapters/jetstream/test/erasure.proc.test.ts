import { jetstreamManager } from "@nats-io/jetstream";
import {
  blobNameOf,
  BUCKET,
  digestOf,
  encode,
  OutboxMessage,
  outboxSubject,
  type SessionKey,
  STREAM,
} from "@troupe/contracts";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  blobStore,
  type Bus,
  deliveryLedger,
  deadLetters,
  forget,
  inboundLedger,
  mailSender,
  type OutboxEvent,
  outboxFeed,
  publishPort,
  segmentStore,
  statePort,
  sweepOrphans,
} from "../src/index.js";
import { entrySubject } from "../src/bucket.js";
import { wireOf } from "../src/bus.js";
import { letterText, putDead } from "./letter-fixture.js";
import { keyOf, type NatsFixture, provisioned, startFixture } from "./nats-fixture.js";

let fixture: NatsFixture;
let bus: Bus;

beforeEach(async () => {
  fixture = await startFixture();
  bus = await provisioned(fixture);
});
afterEach(() => fixture.stop());

const segmentOf = (key: SessionKey, generation = 0): string => `${key}.${generation}.0-10.${"a".repeat(64)}`;
const LARGE = "a large text ".repeat(20_000);

/** The state of a session that has been reset or erased so often. */
async function putState(key: SessionKey, generation: number, outstanding: readonly object[] = []): Promise<void> {
  const before = await statePort(bus).read(key, "leader");
  await statePort(bus).write(key, JSON.stringify({ fields: { generation }, outstanding }), before?.revision ?? 0);
}

async function store(key: SessionKey, generation: number): Promise<void> {
  await segmentStore(bus).create(segmentOf(key, generation), "sealed");
  await blobStore(bus).put({ key, generation }, "large");
  await blobStore(bus).put({ key, generation }, LARGE);
}

async function publishNotice(key: SessionKey, generation: number): Promise<void> {
  const notice = { turn: null, level: "info" as const, text: "a word" };
  const id = `${key}:${generation}`;
  const body = encode(OutboxMessage, { v: 1, id, kind: "notice", session: key, generation, notice });
  const subject = outboxSubject(key);
  await publishPort(bus).publish({ kind: "publish", id, bell: null, subject, body: JSON.parse(body) });
}

async function leaveTraces(key: SessionKey): Promise<void> {
  await putState(key, 1);
  await publishNotice(key, 0);
  await inboundLedger(bus).record(key, "m", { turn: "t_1", digest: "d" });
  const delivery = { key, id: "r_1" };
  const claim = await deliveryLedger(bus).write(delivery, "sending", 0);
  await deliveryLedger(bus).write(delivery, "sent", claim ?? 0);
  await store(key, 0);
  for (const kind of ["mail", "job"] as const) await putDead(bus, kind, key, letterText(key, kind, { kind }));
}

interface Stored {
  readonly segment: string | undefined;
  readonly blobs: readonly (string | undefined)[];
}

interface Traces extends Stored {
  readonly events: readonly OutboxEvent[];
  readonly turn: string | undefined;
  readonly delivery: string | undefined;
  readonly dead: number;
}

const NOTHING: Stored = { segment: undefined, blobs: [undefined, undefined] };
const ALL: Stored = { segment: "sealed", blobs: ["large", LARGE] };

async function storedOf(key: SessionKey, generation: number): Promise<Stored> {
  // Stores of their own: what was read before is kept in memory.
  const [segments, blobs] = [segmentStore(bus), blobStore(bus)];
  const read = (text: string) => blobs.get({ key, generation }, blobNameOf(text));
  return {
    segment: await segments.read(segmentOf(key, generation)).catch(() => undefined),
    blobs: [await read("large"), await read(LARGE)],
  };
}

async function tracesOf(key: SessionKey): Promise<Traces> {
  return {
    events: await outboxFeed(bus).replay(key, 0),
    turn: (await inboundLedger(bus).get(key, "m"))?.turn,
    delivery: (await deliveryLedger(bus).read({ key, id: "r_1" }))?.text,
    dead: (await deadLetters(bus).list({ session: key, limit: 10 })).total,
    ...(await storedOf(key, 0)),
  };
}

test("nothing that was said in a conversation is left, and another one keeps all of its own", async () => {
  // Names that begin alike must not be taken for one another.
  const [gone, kept] = [keyOf("a"), keyOf("ab")];
  await leaveTraces(gone);
  await leaveTraces(kept);
  expect(await forget(bus, gone)).toBe(true);
  expect(await tracesOf(gone)).toEqual({ events: [], turn: undefined, delivery: undefined, dead: 0, ...NOTHING });
  expect(await tracesOf(kept)).toEqual({
    events: [expect.objectContaining({ key: kept })],
    turn: "t_1",
    delivery: "sent",
    dead: 2,
    ...ALL,
  });
});

test("nothing comes back with a server that was killed right after", async () => {
  const [gone, kept] = [keyOf("a"), keyOf("ab")];
  await leaveTraces(gone);
  await leaveTraces(kept);
  await forget(bus, gone);
  await fixture.server.kill("SIGKILL");
  await fixture.server.restart();
  bus = await fixture.connect();
  expect(await tracesOf(gone)).toMatchObject({ events: [], turn: undefined, delivery: undefined, dead: 0, ...NOTHING });
  expect(await tracesOf(kept)).toMatchObject({ turn: "t_1", delivery: "sent", dead: 2, ...ALL });
});

test("what belongs to a message that came after the erasure stays", async () => {
  const key = keyOf("a");
  await leaveTraces(key);
  await store(key, 1);
  await forget(bus, key);
  expect(await storedOf(key, 0)).toEqual(NOTHING);
  expect(await storedOf(key, 1)).toEqual(ALL);
});

test("a sweep removes what generations that are over have left, of every conversation, and nothing else", async () => {
  const [reset, fresh, unborn] = [keyOf("reset"), keyOf("fresh"), keyOf("unborn")];
  for (const generation of [0, 1, 2, 10]) await store(reset, generation);
  await putState(reset, 2);
  await store(fresh, 0);
  await putState(fresh, 0);
  // Stored for a first commit that has yet to land.
  await store(unborn, 0);
  expect(await sweepOrphans(bus)).toBeGreaterThan(0);
  expect(await Promise.all([0, 1].map((generation) => storedOf(reset, generation)))).toEqual([NOTHING, NOTHING]);
  expect(await storedOf(reset, 2)).toEqual(ALL);
  expect(await storedOf(reset, 10)).toEqual(ALL);
  expect(await storedOf(fresh, 0)).toEqual(ALL);
  expect(await storedOf(unborn, 0)).toEqual(ALL);
  expect(await sweepOrphans(bus)).toBe(0);
});

test("a sweep leaves the large texts of replies that may still be asked for, or are yet to be published", async () => {
  const [said, listed] = [keyOf("said"), keyOf("listed")];
  for (const key of [said, listed]) for (const generation of [0, 1, 2]) await store(key, generation);
  for (const generation of [1, 2]) await publishNotice(said, generation);
  await putState(said, 2);
  const run = { kind: "run", id: "r", body: { kind: "model" } };
  await putState(listed, 2, [
    run,
    { kind: "publish", id: "p", subject: outboxSubject(listed), body: { generation: 1 } },
  ]);
  expect(await sweepOrphans(bus)).toBeGreaterThan(0);
  for (const key of [said, listed]) {
    expect(await storedOf(key, 0)).toEqual(NOTHING);
    // Only a state names pieces of a log.
    expect(await storedOf(key, 1)).toEqual({ ...ALL, segment: undefined });
    expect(await storedOf(key, 2)).toEqual(ALL);
  }
  const jsm = await jetstreamManager(wireOf(bus).nc);
  await jsm.streams.purge(STREAM.outbox, { filter: outboxSubject(said), keep: 1 });
  await putState(listed, 2);
  await sweepOrphans(bus);
  for (const key of [said, listed]) {
    expect(await storedOf(key, 1)).toEqual(NOTHING);
    expect(await storedOf(key, 2)).toEqual(ALL);
  }
});

test("a sweep keeps all of a conversation whose state or reply cannot be read, and sweeps the others", async () => {
  const [damaged, garbled, reset] = [keyOf("damaged"), keyOf("garbled"), keyOf("reset")];
  for (const key of [damaged, garbled, reset]) await store(key, 0);
  await statePort(bus).write(damaged, "{nonsense", 0);
  await putState(garbled, 1);
  await mailSender(bus).send({ subject: outboxSubject(garbled), id: "x", body: "{nonsense" });
  await putState(reset, 1);
  await sweepOrphans(bus);
  expect(await storedOf(damaged, 0)).toEqual(ALL);
  expect(await storedOf(garbled, 0)).toEqual({ ...ALL, segment: undefined });
  expect(await storedOf(reset, 0)).toEqual(NOTHING);
});

test("a record of what came in that cannot be read tells nothing", async () => {
  const key = keyOf("a");
  const subject = entrySubject(BUCKET.inbound, `${key}.${digestOf("m")}`);
  await mailSender(bus).send({ subject, id: "x", body: "{" });
  expect(await inboundLedger(bus).get(key, "m")).toBeNull();
});

test("says whether there was anything, so that it can be repeated until there is not", async () => {
  await leaveTraces(keyOf("a"));
  expect(await forget(bus, keyOf("a"))).toBe(true);
  expect(await forget(bus, keyOf("a"))).toBe(false);
  expect(await forget(bus, keyOf("never"))).toBe(false);
  await leaveTraces(keyOf("a"));
  expect(await forget(bus, keyOf("a"))).toBe(true);
});

test("rejects when the server cannot be reached: then nothing is known to be gone", async () => {
  await fixture.server.kill();
  await expect(forget(bus, keyOf("a"))).rejects.toThrow();
});
