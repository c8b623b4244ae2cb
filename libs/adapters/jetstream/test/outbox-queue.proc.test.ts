import { outboxSubject, type SessionKey } from "@troupe/contracts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Bus, type OutboxBell, type OutboxQueue, outboxQueue, publishPort } from "../src/index.js";
import { wireOf } from "../src/bus.js";
import { eventually } from "./condition.js";
import { type NatsFixture, provisioned, startFixture } from "./nats-fixture.js";

let fixture: NatsFixture;
let bus: Bus;

beforeEach(async () => {
  fixture = await startFixture();
  bus = await provisioned(fixture);
});
afterEach(() => fixture.stop());

const key = (text: string): SessionKey => `webhook.${text}` as SessionKey;
let count = 0;

async function reply(to: SessionKey): Promise<void> {
  count += 1;
  const effect = { kind: "publish", id: `e${count}`, bell: null, subject: outboxSubject(to), body: {} } as const;
  await publishPort(bus).publish(effect);
}

/** One process of the channel, which acks what it is given unless told otherwise. */
async function puller(on: Bus, options: { readonly acks: boolean } = { acks: true }) {
  const bells: OutboxBell[] = [];
  const troubles: string[] = [];
  const lost: number[] = [];
  const queue: OutboxQueue = outboxQueue(on, {
    channel: "webhook",
    onBell: (bell) => {
      bells.push(bell);
      if (options.acks) bell.ack();
      return true;
    },
    onLost: () => lost.push(bells.length),
    onTrouble: (line) => troubles.push(line),
  });
  await queue.start();
  return { queue, lost, bells, troubles, seqs: () => bells.map((bell) => bell.seq) };
}

test("gives one channel's replies in order, those from before it was there too, and says what is done", async () => {
  await reply(key("a"));
  await reply("http.a" as SessionKey);
  const one = await puller(bus);
  await reply(key("b"));
  await eventually(() => one.bells.length === 2);
  expect(one.seqs()).toEqual([1, 3]);
  expect(one.bells.map((bell) => bell.key)).toEqual([key("a"), key("b")]);
  await eventually(async () => (await one.queue.floor()) === 3);
  one.queue.stop();
});

test("serves one process at a time, and the next one when that is gone", async () => {
  const first = await puller(bus);
  await reply(key("a"));
  await eventually(() => first.bells.length === 1);
  const second = await puller(await fixture.connect("second"));
  for (let n = 0; n < 20; n += 1) await reply(key(`c${n}`));
  await eventually(() => first.bells.length === 21);
  expect(second.bells).toEqual([]);
  first.queue.stop();
  await reply(key("z"));
  await eventually(() => second.bells.length === 1, "the second process takes over", 20_000);
  expect(first.bells).toHaveLength(21);
  second.queue.stop();
});

test("brings what was not acked again, to whoever is served then", async () => {
  const dying = await fixture.connect("dying");
  const first = await puller(dying, { acks: false });
  await reply(key("a"));
  await eventually(() => first.bells.length === 1);
  const second = await puller(bus);
  // As a process that is killed: nothing is drained, nothing is said.
  await wireOf(dying).nc.close();
  await eventually(() => second.bells.length === 1, "the reply comes again", 20_000);
  expect(second.seqs()).toEqual([1]);
  expect(await second.queue.floor()).toBe(1);
  second.queue.stop();
});

test("goes on after the server was restarted", async () => {
  const one = await puller(bus);
  await reply(key("a"));
  await eventually(() => one.bells.length === 1);
  await fixture.server.restart();
  await reply(key("a"));
  await eventually(() => one.bells.length === 2, "the reply after the restart", 30_000);
  expect(one.seqs()).toEqual([1, 2]);
  one.queue.stop();
});
