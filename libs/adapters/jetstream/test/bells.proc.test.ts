import { jetstreamManager } from "@nats-io/jetstream";
import { mailSubject, SESSION_BELLS, STREAM, topology } from "@troupe/contracts";
import type { Bell } from "@troupe/kernel";
import { afterEach, beforeEach, expect, test } from "vitest";
import { wireOf } from "../src/bus.js";
import { type Bus, connectBus, mailPort, mailSender, ownerPort, provision, ringBells } from "../src/index.js";
import { eventually } from "./condition.js";
import { Link } from "./link.js";
import { keyOf, type NatsFixture, provisioned, SMALL, startFixture } from "./nats-fixture.js";

let fixture: NatsFixture;
let bus: Bus;

beforeEach(async () => {
  fixture = await startFixture();
  bus = await provisioned(fixture);
});
afterEach(() => fixture.stop());

const KEY = keyOf("a");

async function putMail(texts: readonly string[]): Promise<number[]> {
  const sender = mailSender(bus);
  const seqs: number[] = [];
  for (const text of texts) {
    seqs.push((await sender.send({ subject: mailSubject("session", KEY, "in"), id: `m-${text}`, body: text })).seq);
  }
  return seqs;
}

const numbers = (count: number): string[] => Array.from({ length: count }, (_, n) => String(n));

interface Ringing {
  readonly bells: Bell[];
  readonly troubles: string[];
  stop(): Promise<void>;
}

async function ring(on: Bus, maxInFlight: number, onBell?: (bell: Bell) => void): Promise<Ringing> {
  const bells: Bell[] = [];
  const troubles: string[] = [];
  const { stop } = await ringBells(on, {
    actor: "session",
    maxInFlight,
    onBell: (bell) => {
      bells.push(bell);
      onBell?.(bell);
    },
    onTrouble: (line) => troubles.push(line),
  });
  return { bells, troubles, stop };
}

async function queueIsEmpty(): Promise<boolean> {
  const jsm = await jetstreamManager(wireOf(bus).nc);
  return (await jsm.streams.info(STREAM.mail)).state.messages === 0;
}

test("K7 never more bells are in flight than allowed, and each answer lets the next one ring", async () => {
  let inFlight = 0;
  let most = 0;
  const open: Bell[] = [];
  const { bells, stop } = await ring(bus, 4, (bell) => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    open.push(bell);
  });
  await putMail(numbers(30));
  // Mail has three of the four places.
  await eventually(() => open.length === 3);
  while (bells.length < 30) {
    const bell = open.shift();
    if (bell === undefined) await eventually(() => open.length > 0);
    else {
      inFlight -= 1;
      bell.ack();
    }
  }
  for (const bell of open) bell.ack();
  await eventually(queueIsEmpty);
  expect(most).toBe(3);
  expect(new Set(bells.map((bell) => bell.item.text))).toEqual(new Set(numbers(30)));
  await stop();
});

test("K7 a bell rings at once, not at the next pull", async () => {
  const { bells, stop } = await ring(bus, 16);
  await putMail(["warm"]);
  await eventually(() => bells.length === 1);
  const startedAt = performance.now();
  await putMail(["now"]);
  await eventually(() => bells.length === 2);
  // A pull lasts twenty seconds.
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  await stop();
});

test("K7 a nak with a delay rings again after it, not before", async () => {
  const at: number[] = [];
  const { stop } = await ring(bus, 8, (bell) => {
    at.push(performance.now());
    if (at.length === 1) bell.nak(700);
    else bell.ack();
  });
  await putMail(["later"]);
  await eventually(queueIsEmpty);
  const [first = 0, second = 0] = at;
  expect(at).toHaveLength(2);
  expect(second - first).toBeGreaterThanOrEqual(650);
  await stop();
});

test("K7 `working` keeps a bell from ringing elsewhere; without it the bell rings again", async () => {
  const other = await fixture.connect("other");
  const mine = await ring(bus, 8);
  const [kept = 0, left = 0] = await putMail(["kept", "left"]);
  await eventually(() => mine.bells.length === 2);
  const others = await ring(other, 8);
  const keeping = setInterval(() => mine.bells.find((bell) => bell.item.seq === kept)?.working(), 500);
  const rungAgain = (seq: number): number =>
    [...mine.bells, ...others.bells].filter((bell) => bell.item.seq === seq && bell.redelivered).length;
  await eventually(() => rungAgain(left) > 0, "the bell that nobody kept");
  clearInterval(keeping);
  expect(rungAgain(kept)).toBe(0);
  await Promise.all([mine.stop(), others.stop()]);
});

test("K7 a process that stands still holds bells up by its last request only", async () => {
  const link = await Link.to(fixture.server.port);
  const { user, pass } = fixture.server;
  const frozen = await connectBus({ target: { url: link.url, user, pass }, name: "frozen" });
  const first = await ring(frozen, 256, (bell) => bell.ack());
  await putMail(["warm"]);
  await eventually(queueIsEmpty);
  link.freeze();
  // The server serves the oldest request first: that of the process that stands still.
  const second = await ring(bus, 256, (bell) => bell.ack());
  const startedAt = performance.now();
  await putMail(numbers(40));
  await eventually(queueIsEmpty, "all bells answered", 30_000);
  // What was lost to it rings again after the ack wait of three seconds; not to be lost to it once more.
  expect(performance.now() - startedAt).toBeLessThan(6_500);
  expect(first.bells).toHaveLength(1);
  await second.stop();
  link.close();
  await first.stop();
  await frozen.close();
});

test("K7 after stop nothing rings here, and another process gets what is left at once", async () => {
  const first = await ring(bus, 8, (bell) => bell.ack());
  await putMail(["before"]);
  await eventually(() => first.bells.length === 1);
  await first.stop();
  await putMail(numbers(20));
  const second = await ring(await fixture.connect("second"), 64, (bell) => bell.ack());
  await eventually(queueIsEmpty);
  expect(first.bells).toHaveLength(1);
  expect(second.bells).toHaveLength(20);
  expect(second.bells.filter((bell) => bell.redelivered)).toEqual([]);
  await second.stop();
});

test("K7 bells that are on their way to a process that stops go back at once", async () => {
  await putMail(numbers(200));
  let stopping: Promise<void> | undefined;
  const first = await ring(bus, 100, () => {
    stopping ??= first.stop();
  });
  await eventually(() => stopping !== undefined);
  await stopping;
  for (const bell of first.bells) bell.ack();
  const startedAt = performance.now();
  const second = await ring(await fixture.connect("second"), 256, (bell) => bell.ack());
  await eventually(queueIsEmpty);
  // A bell that was lost on the way would only ring after the consumer's ack wait of five seconds.
  expect(performance.now() - startedAt).toBeLessThan(4_500);
  await second.stop();
});

test("K7 a process that stops in the middle of a rush loses no bell", async () => {
  const second = await ring(await fixture.connect("second"), 4, (bell) => bell.ack());
  const first = await ring(bus, 200, (bell) => bell.ack());
  const sent = putMail(numbers(300));
  await eventually(() => first.bells.length > 20);
  await first.stop();
  const known = first.bells.length;
  await sent;
  await eventually(queueIsEmpty);
  expect(first.bells).toHaveLength(known);
  expect(new Set([...first.bells, ...second.bells].map((bell) => bell.item.text)).size).toBe(300);
  await second.stop();
});

test("K7 a bell handed over frees its place, and the owner's answers reach the queue", async () => {
  const owner = await fixture.connect("owner");
  const taken: Bell[] = [];
  const unserve = await ownerPort(owner).serve("p1", (_owner, bell) => taken.push(bell) > 0);
  const port = ownerPort(bus);
  const mine = await ring(bus, 2, (bell) => void port.offer("p1-3", bell));
  await putMail(numbers(5));
  await eventually(() => taken.length === 5, "five bells through one place");
  expect(await queueIsEmpty()).toBe(false);
  taken[0]?.nak(0);
  await eventually(() => taken.length === 6, "the bell that the owner gave back");
  for (const bell of taken) bell.ack();
  await eventually(queueIsEmpty);
  await unserve();
  await mine.stop();
});

test("K7 mail of nearly the largest size can be offered, or is declined and stays with who has it", async () => {
  const unserve = await ownerPort(bus).serve("p1", () => true);
  const { bells, stop } = await ring(bus, 8);
  const publish = (size: number): void => wireOf(bus).nc.publish(mailSubject("session", KEY, "in"), "x".repeat(size));
  publish(bus.maxPayload - 1_000);
  publish(bus.maxPayload);
  await eventually(() => bells.length === 2);
  const answers = await Promise.all(bells.map((bell) => ownerPort(bus).offer("p1-1", bell)));
  expect(answers).toEqual(["taken", "declined"]);
  await unserve();
  await stop();
});

test("a consumer that was deleted is made again, with a word about it", async () => {
  const { bells, troubles, stop } = await ring(bus, 8, (bell) => bell.ack());
  await putMail(["before"]);
  await eventually(() => bells.length === 1);
  const jsm = await jetstreamManager(wireOf(bus).nc);
  await jsm.consumers.delete(STREAM.mail, SESSION_BELLS);
  await putMail(["after"]);
  await eventually(() => bells.length === 2);
  expect(troubles[0]).toMatch(/^doorbells \(session-bells\): .+; pulling again$/);
  await stop();
});

test("K1 a MAIL that was deleted and made anew has another identity, and its bells ring", async () => {
  const mail = mailPort(bus, "session");
  const { bells, stop } = await ring(bus, 8, (bell) => bell.ack());
  const before = await mail.identity();
  const jsm = await jetstreamManager(wireOf(bus).nc);
  await jsm.streams.delete(STREAM.mail);
  await provision(bus, topology(SMALL));
  await eventually(async () => (await mail.identity()) !== before);
  await putMail(["first of the new log"]);
  await eventually(() => bells.length === 1);
  expect(bells[0]?.item.seq).toBe(1);
  await stop();
});

test("a listener that throws is reported, and the bells go on", async () => {
  const { bells, troubles, stop } = await ring(bus, 8, (bell) => {
    if (bell.item.text === "bad") throw new Error("no");
    bell.ack();
  });
  await putMail(["bad", "good"]);
  await eventually(() => bells.some((bell) => bell.item.text === "good"));
  expect(troubles).toEqual([expect.stringContaining(KEY)]);
  await stop();
});

test("a body that is no text still rings", async () => {
  const { bells, stop } = await ring(bus, 8);
  wireOf(bus).nc.publish(mailSubject("session", KEY, "in"), Uint8Array.of(0xff, 0x41, 0xfe));
  await eventually(() => bells.length === 1);
  expect(bells[0]?.item.text).toBe("\ufffdA\ufffd");
  await stop();
});

test("the answers of a bell never throw, also when the connection is closed", async () => {
  const own = await fixture.connect("closing");
  const { bells, stop } = await ring(own, 8);
  await putMail(["one"]);
  await eventually(() => bells.length === 1);
  await stop();
  await own.close();
  for (const bell of bells) {
    bell.working();
    bell.nak(100);
    bell.ack();
  }
  const [bell] = bells;
  expect(await mailPort(bus, "session").waiting(bell?.item.seq ?? 0)).toBe(true);
});
