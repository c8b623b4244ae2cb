import { encode, OutboxMessage, outboxSubject, type SessionKey } from "@troupe/contracts";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  blobStore,
  type Bus,
  deliveryLedger,
  deadLetters,
  forget,
  inboundLedger,
  type OutboxEvent,
  outboxFeed,
  publishPort,
  segmentStore,
} from "../src/index.js";
import { letterText, putDead } from "./letter-fixture.js";
import { keyOf, type NatsFixture, provisioned, startFixture } from "./nats-fixture.js";

let fixture: NatsFixture;
let bus: Bus;

beforeEach(async () => {
  fixture = await startFixture();
  bus = await provisioned(fixture);
});
afterEach(() => fixture.stop());

const segmentOf = (key: SessionKey): string => `${key}.0.0-10.${"a".repeat(64)}`;

async function leaveTraces(key: SessionKey): Promise<void> {
  const notice = { turn: null, level: "info" as const, text: "a word" };
  const body = encode(OutboxMessage, { v: 1, id: `${key}:n`, kind: "notice", session: key, generation: 0, notice });
  await publishPort(bus).publish({
    kind: "publish",
    id: `${key}:n`,
    bell: null,
    subject: outboxSubject(key),
    body: JSON.parse(body),
  });
  await inboundLedger(bus).record(key, "m", { turn: "t_1", digest: "d" });
  await deliveryLedger(bus).write({ key, id: "r_1" }, "sent", 0);
  await segmentStore(bus).create(segmentOf(key), "sealed");
  await blobStore(bus).put(key, "one", "large");
  await blobStore(bus).put(key, "two", "larger");
  for (const kind of ["mail", "job"] as const) await putDead(bus, kind, key, letterText(key, kind, { kind }));
}

interface Traces {
  readonly events: readonly OutboxEvent[];
  readonly turn: string | undefined;
  readonly delivery: string | undefined;
  readonly segment: string | undefined;
  readonly blobs: readonly (string | undefined)[];
  readonly dead: number;
}

async function tracesOf(key: SessionKey): Promise<Traces> {
  const blobs = blobStore(bus);
  return {
    events: await outboxFeed(bus).replay(key, 0),
    turn: (await inboundLedger(bus).get(key, "m"))?.turn,
    delivery: (await deliveryLedger(bus).read({ key, id: "r_1" }))?.text,
    segment: await segmentStore(bus)
      .read(segmentOf(key))
      .catch(() => undefined),
    blobs: [await blobs.get(key, "one"), await blobs.get(key, "two")],
    dead: (await deadLetters(bus).list({ session: key, limit: 10 })).total,
  };
}

test("nothing that was said in a conversation is left, and another one keeps all of its own", async () => {
  // Names that begin alike must not be taken for one another.
  const [gone, kept] = [keyOf("a"), keyOf("ab")];
  await leaveTraces(gone);
  await leaveTraces(kept);
  expect(await forget(bus, gone)).toBe(true);
  expect(await tracesOf(gone)).toEqual({
    events: [],
    turn: undefined,
    delivery: undefined,
    segment: undefined,
    blobs: [undefined, undefined],
    dead: 0,
  });
  expect(await tracesOf(kept)).toEqual({
    events: [expect.objectContaining({ key: kept })],
    turn: "t_1",
    delivery: "sent",
    segment: "sealed",
    blobs: ["large", "larger"],
    dead: 2,
  });
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
