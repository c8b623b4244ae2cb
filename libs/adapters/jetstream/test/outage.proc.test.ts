import { mailSubject, outboxSubject } from "@troupe/contracts";
import type { WriteOutcome } from "@troupe/kernel";
import { afterEach, beforeEach, expect, test } from "vitest";
import { wireOf } from "../src/bus.js";
import {
  type Bus,
  mailPort,
  mailSender,
  type OutboxEvent,
  outboxFeed,
  ownerPort,
  publishPort,
  ringBells,
  sessionReader,
  statePort,
} from "../src/index.js";
import { eventually } from "./condition.js";
import { keyOf, type NatsFixture, provisioned, startFixture } from "./nats-fixture.js";

let fixture: NatsFixture;
let bus: Bus;

beforeEach(async () => {
  fixture = await startFixture();
  bus = await provisioned(fixture);
});
afterEach(() => fixture.stop());

const KEY = keyOf("a");

/** Kills the server and brings it back, as often as asked. */
async function outages(times: number): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    await fixture.server.kill();
    await eventually(() => !bus.connected());
    await fixture.server.restart();
    await eventually(() => bus.connected());
  }
}

/** Stops the server where it stands; it takes a moment until it answers nothing any more. */
async function freeze(): Promise<void> {
  await fixture.server.kill("SIGSTOP");
  const silent = (): Promise<boolean> =>
    wireOf(bus)
      .ask({ subject: "$JS.API.INFO", payload: "" }, 200)
      .then(
        () => false,
        () => true,
      );
  await eventually(silent, "a frozen server");
}

test("K7 bells go on by themselves over restarts of the server, and every one of them is answered", async () => {
  const heard = new Set<string>();
  const troubles: string[] = [];
  const ringing = await ringBells(bus, {
    actor: "session",
    maxInFlight: 16,
    onBell: (bell) => {
      heard.add(bell.item.text);
      bell.ack();
    },
    onTrouble: (line) => troubles.push(line),
  });
  const sender = mailSender(bus);
  let sent = 0;
  let sending = true;
  const stream = (async () => {
    while (sending) {
      sent += 1;
      await sender.send({ subject: mailSubject("session", KEY, "in"), id: `m${sent}`, body: `m${sent}` });
    }
  })();
  await eventually(() => heard.size > 50);
  await outages(2);
  const before = heard.size;
  await eventually(() => heard.size > before + 50, "bells after the restarts");
  sending = false;
  await stream;
  await eventually(() => heard.size === sent, "all bells");
  await eventually(
    async () => (await mailPort(bus, "session").read(KEY, "in", 1, 10)).length === 0,
    "an empty queue",
    15_000,
  );
  await ringing.stop();
});

test("K10 bells of timers go on over a restart too", async () => {
  const heard: string[] = [];
  const ringing = await ringBells(bus, {
    actor: "session",
    maxInFlight: 8,
    onBell: (bell) => {
      heard.push(bell.item.text);
      bell.ack();
    },
    onTrouble: () => undefined,
  });
  const target = mailSubject("session", KEY, "self");
  await publishPort(bus).publish({
    kind: "publish",
    id: "t1",
    bell: null,
    subject: "timer.session.http.a.t1",
    body: { timer: 1 },
    schedule: { at: Date.now() + 1_500, target },
  });
  await outages(1);
  await eventually(() => heard.length > 0, "the timer");
  expect(heard).toEqual(['{"timer":1}']);
  await ringing.stop();
});

test("K3 effects published while the server restarts are stored once each", async () => {
  const port = publishPort(bus);
  const subject = outboxSubject(KEY);
  const effects = Array.from({ length: 400 }, (_, n) => ({
    kind: "publish" as const,
    id: `e${n}`,
    bell: null,
    subject,
    body: { n },
  }));
  const publishing = (async () => {
    for (let n = 0; n < effects.length; n += 20) {
      const outcomes = await Promise.all(effects.slice(n, n + 20).map((effect) => port.publish(effect)));
      expect(outcomes.every((outcome) => outcome !== "waiting")).toBe(true);
    }
  })();
  await eventually(async () => (await outboxFeed(bus).replay(KEY, 0)).length > 0);
  await outages(1);
  await publishing;
  const stored = (await outboxFeed(bus).replay(KEY, 0)).map((event) => JSON.parse(event.text).n as number);
  expect(stored.toSorted((a, b) => a - b)).toEqual(effects.map((_, n) => n));
});

test("K4 writes in flight when the server dies end soon, and none is lost that was said to be stored", async () => {
  const state = statePort(bus);
  const outcomes = new Map<string, WriteOutcome | "unknown">();
  let writing = true;
  const stream = (async () => {
    for (let n = 0; writing; n += 1) {
      const key = keyOf(`k${n}`);
      outcomes.set(key, await state.write(key, `text ${n}`, 0).catch(() => "unknown" as const));
    }
  })();
  await eventually(() => outcomes.size > 50);
  await outages(1);
  const before = outcomes.size;
  await eventually(() => outcomes.size > before + 20, "writes after the restart");
  writing = false;
  await stream;
  for (const [key, outcome] of outcomes) {
    const entry = await state.read(key, "leader");
    if (outcome !== "unknown" && outcome.kind === "stored") expect(entry?.revision).toBe(outcome.revision);
  }
});

test("K4 operations on a server that is gone or frozen reject within about five seconds", async () => {
  const operations = (): Promise<unknown>[] => [
    statePort(bus).write(KEY, "text", 0),
    statePort(bus).read(KEY, "any"),
    statePort(bus).read(KEY, "leader"),
    mailPort(bus, "session").read(KEY, "in", 1, 10),
    mailPort(bus, "session").waiting(1),
    mailPort(bus, "session").identity(),
    publishPort(bus).publish({ kind: "publish", id: "e", bell: null, subject: outboxSubject(KEY), body: {} }),
  ];
  for (const stop of [freeze, () => fixture.server.kill()]) {
    await stop();
    const startedAt = performance.now();
    const outcomes = await Promise.allSettled(operations());
    expect(outcomes.map((outcome) => outcome.status)).toEqual(outcomes.map(() => "rejected"));
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  }
});

test("K4 what is in flight when the connection is lost rejects then, not at its timeout", async () => {
  await freeze();
  const reading = statePort(bus).read(KEY, "leader");
  const outcome = reading.then(
    () => "answered",
    () => "rejected",
  );
  const startedAt = performance.now();
  await fixture.server.kill("SIGKILL");
  expect(await outcome).toBe("rejected");
  expect(performance.now() - startedAt).toBeLessThan(4_500);
});

test("a server that freezes without closing its connections is found out, and all goes on when it thaws", async () => {
  const bells: string[] = [];
  const troubles: string[] = [];
  const ringing = await ringBells(bus, {
    actor: "session",
    maxInFlight: 8,
    onBell: (bell) => {
      bells.push(bell.item.text);
      bell.ack();
    },
    onTrouble: (line) => troubles.push(line),
  });
  const feed = outboxFeed(bus);
  const running = await feed.start();
  const heard: OutboxEvent[] = [];
  feed.listen(KEY, (event) => heard.push(event));
  await freeze();
  await eventually(() => troubles.some((line) => line.includes("silent")), "a word about the silence");
  await fixture.server.kill("SIGCONT");
  await mailSender(bus).send({ subject: mailSubject("session", KEY, "in"), id: "m1", body: "m1" });
  await publishPort(bus).publish({
    kind: "publish",
    id: "e1",
    bell: null,
    subject: outboxSubject(KEY),
    body: { n: 1 },
  });
  await eventually(() => bells.length > 0 && heard.length > 0, "bell and event after the thaw");
  expect(heard).toHaveLength(1);
  await running.stop();
  await ringing.stop();
});

test("all that listens ends within seconds while the server is frozen", async () => {
  const ringing = await ringBells(bus, {
    actor: "session",
    maxInFlight: 8,
    onBell: () => undefined,
    onTrouble: () => undefined,
  });
  const stopServing = await ownerPort(bus).serve("p1", () => false);
  const running = await outboxFeed(bus).start();
  await fixture.server.kill("SIGSTOP");
  const startedAt = performance.now();
  await Promise.all([ringing.stop(), stopServing(), running.stop()]);
  await bus.close();
  // A process has ten seconds in all, and hands its work over in between.
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});

test("K1 the identity of the log stays over a restart", async () => {
  const mail = mailPort(bus, "session");
  const before = await mail.identity();
  await outages(1);
  expect(await mail.identity()).toBe(before);
});

test("the outbox feed leaves out nothing and repeats nothing over restarts of the server", async () => {
  // What another process publishes while this one is away is what could get lost.
  const other = await fixture.connect("other");
  const port = publishPort(other);
  const feed = outboxFeed(bus);
  const running = await feed.start();
  const heard: OutboxEvent[] = [];
  feed.listen(KEY, (event) => heard.push(event));
  let sent = 0;
  let sending = true;
  const stream = (async () => {
    while (sending) {
      const effect = {
        kind: "publish",
        id: `e${sent}`,
        bell: null,
        subject: outboxSubject(KEY),
        body: { n: sent },
      } as const;
      await port.publish(effect);
      sent += 1;
    }
  })();
  await eventually(() => heard.length > 50);
  await outages(3);
  const before = heard.length;
  await eventually(() => heard.length > before + 50, "events after the restarts");
  sending = false;
  await stream;
  await eventually(() => heard.length >= sent, "all events");
  expect(heard.map((event) => JSON.parse(event.text).n)).toEqual(Array.from({ length: sent }, (_, n) => n));
  expect(feed.lastSeq()).toBe(heard.at(-1)?.seq);
  await running.stop();
});

test("a watch of a session goes on over restarts of the server", async () => {
  const state = statePort(bus);
  const seen: number[] = [];
  const stop = await sessionReader(bus).watch(KEY, (entry) => seen.push(entry.revision));
  let outcome = await state.write(KEY, "one", 0);
  // Told before the next one is written: of a state that was replaced meanwhile there is nothing to tell.
  await eventually(() => seen.length === 1);
  await outages(1);
  if (outcome.kind === "stored") outcome = await state.write(KEY, "two", outcome.revision);
  await eventually(() => seen.length === 2);
  expect(outcome).toEqual({ kind: "stored", revision: seen[1] });
  stop();
});
