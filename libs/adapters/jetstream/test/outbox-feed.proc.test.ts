import { outboxSubject, Retention, topology } from "@troupe/contracts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Bus, type OutboxEvent, outboxFeed, provision, publishPort } from "../src/index.js";
import { eventually } from "./condition.js";
import { keyOf, type NatsFixture, provisioned, startFixture } from "./nats-fixture.js";

let fixture: NatsFixture;
let bus: Bus;

beforeEach(async () => {
  fixture = await startFixture();
  bus = await provisioned(fixture);
});
afterEach(() => fixture.stop());

const A = keyOf("a");
const B = keyOf("b");
let count = 0;

async function reply(key: typeof A, n: number): Promise<void> {
  count += 1;
  const effect = { kind: "publish", id: `e${count}`, bell: null, subject: outboxSubject(key), body: { n } } as const;
  await publishPort(bus).publish(effect);
}

const numbersOf = (events: readonly OutboxEvent[]): number[] => events.map((event) => JSON.parse(event.text).n);

test("listeners get the events of their conversation from now on, in order, until they leave", async () => {
  await reply(A, 0);
  const feed = outboxFeed(bus);
  const running = await feed.start();
  const heard: OutboxEvent[] = [];
  const again: OutboxEvent[] = [];
  const leave = feed.listen(A, (event) => heard.push(event));
  feed.listen(A, (event) => again.push(event));
  for (let n = 1; n <= 5; n += 1) {
    await reply(A, n);
    await reply(B, n);
  }
  await eventually(() => again.length === 5);
  leave();
  await reply(A, 6);
  await eventually(() => again.length === 6);
  expect(numbersOf(heard)).toEqual([1, 2, 3, 4, 5]);
  expect(heard.every((event) => event.key === A)).toBe(true);
  expect(feed.lastSeq()).toBe(12);
  await running.stop();
  await reply(A, 7);
  expect(numbersOf(await feed.replay(A, 0))).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(again).toHaveLength(6);
});

test("a replay gives what lies behind a sequence, of one conversation, however much it is", async () => {
  const feed = outboxFeed(bus);
  await Promise.all(Array.from({ length: 1_200 }, (_, n) => reply(n % 2 === 0 ? A : B, n)));
  const all = await feed.replay(A, 0);
  expect(all).toHaveLength(600);
  expect(all.map((event) => event.seq)).toEqual(all.map((event) => event.seq).toSorted((a, b) => a - b));
  const middle = all[299]?.seq ?? 0;
  expect(await feed.replay(A, middle)).toEqual(all.slice(300));
  expect(await feed.replay(A, all.at(-1)?.seq ?? 0)).toEqual([]);
  expect(await feed.replay(keyOf("none"), 0)).toEqual([]);
});

test("a rush of events is heard whole and in order", async () => {
  await provision(bus, topology(Retention.parse({ outbox: { maxBytes: 256 * 1024 * 1024 } })));
  const feed = outboxFeed(bus);
  const running = await feed.start();
  const heard: number[] = [];
  feed.listen(A, (event) => heard.push(event.seq));
  const port = publishPort(await fixture.connect("publisher"));
  const body = { text: "x".repeat(16 * 1024) };
  const publish = (n: number): Promise<unknown> =>
    port.publish({ kind: "publish", id: `r${n}`, bell: null, subject: outboxSubject(A), body });
  for (let n = 0; n < 3_000; n += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, i) => publish(n + i)));
  }
  await eventually(() => heard.length === 3_000, "all events");
  expect(heard).toEqual(heard.toSorted((a, b) => a - b));
  await running.stop();
});

test("a feed of one channel hears only that channel", async () => {
  const feed = outboxFeed(bus, { channel: "http" });
  const running = await feed.start();
  const heard: string[] = [];
  const other = "cli.a" as typeof A;
  feed.listen(A, (event) => heard.push(event.key));
  feed.listen(other, (event) => heard.push(event.key));
  await reply(other, 1);
  await reply(A, 2);
  await eventually(() => heard.length > 0);
  expect(heard).toEqual([A]);
  await running.stop();
});

test("a listener that comes and goes while others listen disturbs nobody", async () => {
  const feed = outboxFeed(bus);
  const running = await feed.start();
  const heard: OutboxEvent[] = [];
  const leave = feed.listen(A, () => leave());
  feed.listen(A, (event) => heard.push(event));
  await reply(A, 1);
  await reply(A, 2);
  await eventually(() => heard.length === 2);
  leave();
  await running.stop();
});
