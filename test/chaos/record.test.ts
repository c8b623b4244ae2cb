import {
  blobNameOf,
  encode,
  OutboxMessage,
  outboxSubject,
  Retention,
  type SessionKey,
  topology,
} from "@troupe/contracts";
import { blobStore, type Bus, connectBus, deliveryLedger, provision, publishPort } from "@troupe/jetstream";
import { type NatsServer, startNats } from "@troupe/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Record } from "./record.mjs";

/** The judge reads past the services: what they store must be where it looks. */
const SESSION = "http:chaos-0";
const KEY = "http.chaos-0" as SessionKey;
const LARGE = "a large text ".repeat(20_000);

let nats: NatsServer;
let bus: Bus;
let record: Awaited<ReturnType<typeof Record.open>>;
beforeAll(async () => {
  nats = await startNats();
  bus = await connectBus({ target: nats, name: "test" });
  const little = { maxBytes: 8 * 1024 * 1024 };
  await provision(bus, topology(Retention.parse({ mail: little, outbox: little })));
  record = await Record.open({ nats }, { note: () => undefined });
});
afterAll(async () => {
  await record.close();
  await bus.close();
  await nats.stop();
});

it("sees the blobs of a session, all pieces, and those that a history names in vain", async () => {
  const blob = await blobStore(bus).put({ key: KEY, generation: 1 }, LARGE);
  await blobStore(bus).put({ key: "http.chaos-01" as SessionKey, generation: 1 }, "another one's");
  expect((await record.stored(SESSION)).blobs.toSorted()).toEqual([0, 1, 2].map((n) => `1.${blob}.${n}`));
  const messages = [{ blob }, { blob: null }, {}, { blob: blobNameOf("never stored") }];
  expect(await record.lostBlobs(SESSION, { generation: 1, messages })).toEqual([blobNameOf("never stored")]);
});

it("reads a final with its whole text", async () => {
  const blob = await blobStore(bus).put({ key: KEY, generation: 1 }, LARGE);
  const final = { turn: "t_1", kind: "answer", introduction: null, index: 1, error: null, mergedInto: null } as const;
  const body = encode(OutboxMessage, {
    v: 1,
    id: "k:1:0",
    kind: "final",
    session: SESSION,
    generation: 1,
    final: { ...final, text: "It begins: ", at: "2026-01-01T00:00:00.000Z" },
    rest: { blob, length: LARGE.length, tokens: 1 },
  });
  const effect = {
    kind: "publish",
    id: "k:1:0",
    bell: null,
    subject: outboxSubject(KEY),
    body: JSON.parse(body),
  } as const;
  await publishPort(bus).publish(effect);
  const texts = (await record.finals(SESSION)).map((event: { final: { text: string } }) => event.final.text);
  expect(texts.map(blobNameOf)).toEqual([blobNameOf(`It begins: ${LARGE}`)]);
});

it("knows which replies are delivered, which are not, and which records are of none", async () => {
  const session = "telegram:chaos-1";
  const key = "telegram.chaos-1" as SessionKey;
  const final = { kind: "answer", introduction: null, index: 1, error: null, mergedInto: null } as const;
  const at = "2026-01-01T00:00:00.000Z";
  const publish = async (turn: string, text: string) => {
    const id = `k:${turn}:0`;
    const message = { v: 1, id, kind: "final", session, generation: 3, final: { ...final, turn, text, at } } as const;
    const body = JSON.parse(encode(OutboxMessage, message));
    await publishPort(bus).publish({ kind: "publish", id, bell: null, subject: outboxSubject(key), body });
  };
  const write = async (id: string, status: string) => {
    const place = { key, id };
    const { revision } = (await deliveryLedger(bus).read(place)) ?? { revision: 0 };
    await deliveryLedger(bus).write(place, JSON.stringify({ status }), revision);
  };
  await publish("t_1", "one");
  await publish("t_2", "");
  expect(await record.isDelivered(session, "t_1")).toBe(false);
  expect(await record.isDelivered(session, "t_2")).toBe(true);
  expect(await record.isDelivered(session, "t_3")).toBe(false);
  expect(await record.undelivered(session)).toEqual(["r_1_3 is not begun"]);
  await write("r_1_3", "sending");
  expect(await record.undelivered(session)).toEqual(["r_1_3 is sending"]);
  await write("r_1_3", "unsettled");
  await write("r_1_2", "confirmed");
  expect(await record.isDelivered(session, "t_1")).toBe(true);
  expect(await record.undelivered(session)).toEqual([expect.stringMatching(/^r_1_2 is of no reply: confirmed/)]);
  const ends = await record.deliveries(session);
  expect(ends).toEqual(
    new Map([
      ["r_1_2", { status: "confirmed" }],
      ["r_1_3", { status: "unsettled" }],
    ]),
  );
});
