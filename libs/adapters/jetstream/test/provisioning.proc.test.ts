import { jetstreamManager } from "@nats-io/jetstream";
import { Retention, topology } from "@troupe/contracts";
import { afterEach, expect, test } from "vitest";
import { wireOf } from "../src/bus.js";
import { type Bus, BusError, livePublisher, mailSender, provision, statePort } from "../src/index.js";
import { keyOf, type NatsFixture, SMALL, startFixture } from "./nats-fixture.js";

let fixture: NatsFixture;

afterEach(() => fixture?.stop());

const MIB = 1024 * 1024;

/** Everything the server holds, without what changes by itself. */
async function inventory(bus: Bus): Promise<unknown[]> {
  const jsm = await jetstreamManager(wireOf(bus).nc);
  const found: unknown[] = [];
  for await (const { config, created } of jsm.streams.list()) {
    const consumers: unknown[] = [];
    for await (const consumer of jsm.consumers.list(config.name)) consumers.push(consumer.config);
    found.push({ config, created, consumers });
  }
  return found;
}

test("everything declared is there afterwards, with its limits", async () => {
  fixture = await startFixture();
  const bus = await fixture.connect();
  const declared = topology(SMALL);
  await provision(bus, declared);
  const jsm = await jetstreamManager(wireOf(bus).nc);
  for (const spec of declared.streams) {
    const { config } = await jsm.streams.info(spec.name);
    expect(config.subjects).toEqual(spec.subjects);
    expect(config.retention).toBe(spec.retention);
    expect(config.discard).toBe(spec.discard);
    expect(config.max_bytes).toBe(spec.maxBytes > 0 ? spec.maxBytes : -1);
    expect(config.max_age).toBe(spec.maxAgeMs * 1e6);
    expect(config.allow_direct).toBe(true);
    expect(config.storage).toBe("file");
    expect(config.allow_msg_schedules ?? false).toBe(spec.schedules);
  }
  for (const spec of declared.consumers) {
    const { config } = await jsm.consumers.info(spec.stream, spec.name);
    expect(config.ack_wait).toBe(spec.ackWaitMs * 1e6);
    expect(config.max_ack_pending).toBe(spec.maxAckPending);
    expect(config.filter_subject).toBe(spec.filter);
  }
  for (const spec of declared.buckets) {
    const { config } = await jsm.streams.info(`KV_${spec.name}`);
    expect(config).toMatchObject({ max_age: spec.ttlMs * 1e6, allow_direct: true, allow_rollup_hdrs: true });
    expect(config.max_msgs_per_subject).toBe(spec.rollsUp === true ? -1 : 1);
  }
  await jsm.streams.info("OBJ_blobs");
});

test("a second run changes nothing, and several at the same time all succeed", async () => {
  fixture = await startFixture();
  const buses = await Promise.all([1, 2, 3].map((n) => fixture.connect(`racer ${n}`)));
  await Promise.all(buses.map((bus) => provision(bus, topology(SMALL))));
  const [bus] = buses;
  if (bus === undefined) throw new Error("no connection");
  const before = await inventory(bus);
  await provision(bus, topology(SMALL));
  expect(await inventory(bus)).toEqual(before);
  expect(before.length).toBeGreaterThan(20);
});

test("changed limits take effect, and what is stored stays", async () => {
  fixture = await startFixture();
  const bus = await fixture.connect();
  await provision(bus, topology(SMALL));
  await statePort(bus).write(keyOf("kept"), "text", 0);
  const { seq } = await mailSender(bus).send({ subject: "mail.session.http.a.in", id: "1", body: "{}" });
  const larger = Retention.parse({
    mail: { maxBytes: 16 * MIB, maxAgeMs: 7_200_000 },
    sessions: { maxBytes: 32 * MIB },
  });
  await provision(bus, topology(larger));
  const jsm = await jetstreamManager(wireOf(bus).nc);
  expect((await jsm.streams.info("MAIL")).config).toMatchObject({ max_bytes: 16 * MIB, max_age: 7.2e12 });
  expect((await jsm.streams.info("KV_sessions")).config.max_bytes).toBe(32 * MIB);
  expect((await statePort(bus).read(keyOf("kept"), "leader"))?.text).toBe("text");
  expect(await mailSender(bus).bodyAt(seq)).toBe("{}");
});

test("a limit below what MAIL already holds is refused, and nothing is dropped", async () => {
  fixture = await startFixture();
  const bus = await fixture.connect();
  await provision(bus, topology(SMALL));
  const sender = mailSender(bus);
  const body = "x".repeat(600 * 1024);
  const first = await sender.send({ subject: "mail.session.http.a.in", id: "1", body });
  for (const id of ["2", "3"]) await sender.send({ subject: "mail.session.http.a.in", id, body });
  const tight = topology(Retention.parse({ mail: { maxBytes: MIB } }));
  await expect(provision(bus, tight)).rejects.toThrow(
    /^MAIL already holds \d+ bytes, more than retention\.mail\.maxBytes/,
  );
  expect(await sender.bodyAt(first.seq)).toBe(body);
});

test("a server without room says what to lower", async () => {
  fixture = await startFixture({ config: "" });
  const bus = await fixture.connect();
  const huge = topology(Retention.parse({ segments: { maxBytes: Number.MAX_SAFE_INTEGER } }));
  const cause = await provision(bus, huge).catch((error: unknown) => error);
  expect(cause).toBeInstanceOf(BusError);
  expect(String(cause)).toMatch(
    /NATS has no room for bucket segments .*: lower retention\.segments\.maxBytes or raise/,
  );
  expect(String(cause)).not.toContain("\n");
});

test("a server whose messages are too small for a state is refused, and the setting is named", async () => {
  fixture = await startFixture({ config: "max_payload: 512KB" });
  const bus = await fixture.connect();
  await expect(provision(bus, topology(SMALL))).rejects.toThrow(
    /^NATS takes messages of 524288 bytes at most: set its max_payload to 1048576 .* or more$/,
  );
});

test("a stream in the way is named", async () => {
  fixture = await startFixture();
  const bus = await fixture.connect();
  const jsm = await jetstreamManager(wireOf(bus).nc);
  await jsm.streams.add({ name: "OTHER", subjects: ["outbox.>"] });
  await expect(provision(bus, topology(SMALL))).rejects.toThrow(/^setting up OUTBOX on NATS was refused: /);
  livePublisher(bus).publish(keyOf("still-fine"), "{}");
});
