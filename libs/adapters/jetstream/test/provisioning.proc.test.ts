import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { Retention, topology } from "@troupe/contracts";
import { afterEach, expect, test } from "vitest";
import { wireOf } from "../src/bus.js";
import { type Bus, BusError, changeText, livePublisher, mailSender, provision, statePort } from "../src/index.js";
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

/** One of each kind: refuses what is new, drops the oldest, bucket, object store. */
const FILLINGS: readonly {
  readonly store: string;
  readonly setting: string;
  readonly subject: (n: number) => string;
}[] = [
  { store: "MAIL", setting: "retention.mail", subject: (n) => `mail.session.http.a${n}.in` },
  { store: "OUTBOX", setting: "retention.outbox", subject: (n) => `outbox.http.a${n}` },
  { store: "DEAD", setting: "retention.dead", subject: (n) => `dead.mail.a${n}` },
  { store: "bucket sessions", setting: "retention.sessions", subject: (n) => `$KV.sessions.http.a${n}` },
  { store: "object store blobs", setting: "retention.blobs", subject: (n) => `$O.blobs.C.a${n}` },
];

async function fill(bus: Bus, subjects: readonly ((n: number) => string)[]): Promise<void> {
  const js = jetstream(wireOf(bus).nc);
  for (const subject of subjects) {
    for (const n of [1, 2, 3]) await js.publish(subject(n), "x".repeat(600 * 1024));
  }
}

const ALL_TIGHT = Retention.parse({
  mail: { maxBytes: MIB },
  outbox: { maxBytes: MIB },
  dead: { maxBytes: MIB },
  sessions: { maxBytes: MIB },
  blobs: { maxBytes: MIB },
});

test.each(FILLINGS)(
  "a size below what $store already holds is refused, and nothing at all is changed",
  async (filling) => {
    fixture = await startFixture();
    const bus = await fixture.connect();
    await provision(bus, topology(SMALL));
    await fill(bus, [filling.subject]);
    const jsm = await jetstreamManager(wireOf(bus).nc);
    await jsm.streams.delete("KV_skills");
    const before = await inventory(bus);
    const cause = await provision(bus, topology(ALL_TIGHT)).catch((error: unknown) => error);
    expect(cause).toBeInstanceOf(BusError);
    expect(String(cause)).toMatch(
      new RegExp(
        `${filling.store} already holds \\d{7} bytes, more than ${filling.setting}\\.maxBytes allows \\(1048576\\): raise it; .* same TROUPE_CONFIG$`,
      ),
    );
    expect(await inventory(bus)).toEqual(before);
  },
);

test("every size that is too small is named in one line", async () => {
  fixture = await startFixture();
  const bus = await fixture.connect();
  await provision(bus, topology(SMALL));
  await fill(
    bus,
    FILLINGS.map(({ subject }) => subject),
  );
  const line = String(await provision(bus, topology(ALL_TIGHT)).catch((error: unknown) => error));
  for (const { setting } of FILLINGS) expect(line).toContain(`${setting}.maxBytes allows (1048576)`);
  expect(line).toMatch(/: raise them; [^\n]*$/);
});

test("each changed limit is told, once by whoever changed it, and what is new or as before is not", async () => {
  fixture = await startFixture();
  const bus = await fixture.connect();
  expect(await provision(bus, topology(SMALL))).toEqual([]);
  const changed = Retention.parse({
    mail: { maxBytes: 8 * MIB, maxAgeMs: 7_200_000 },
    outbox: { maxBytes: 256 * MIB },
    sessions: { maxBytes: MIB },
  });
  const expected = [
    { setting: "retention.sessions.maxBytes", from: 1024 * MIB, to: MIB },
    { setting: "retention.mail.maxAgeMs", from: SMALL.mail.maxAgeMs, to: 7_200_000 },
    { setting: "retention.outbox.maxBytes", from: 8 * MIB, to: 256 * MIB },
    { setting: "bucket deliveries maxBytes", from: 256 * MIB, to: 512 * MIB },
  ];
  expect(await provision(bus, topology(changed))).toEqual(expected);
  expect(await provision(bus, topology(changed))).toEqual([]);
});

test("several that start at once with the same new limits all succeed, and say nothing that is not so", async () => {
  fixture = await startFixture();
  const buses = await Promise.all([1, 2, 3, 4].map((n) => fixture.connect(`racer ${n}`)));
  const [bus] = buses;
  if (bus === undefined) throw new Error("no connection");
  await provision(bus, topology(SMALL));
  const changed = Retention.parse({ mail: { maxBytes: 16 * MIB }, outbox: { maxBytes: 4 * MIB } });
  const told = (await Promise.all(buses.map((one) => provision(one, topology(changed))))).flat();
  expect(new Set(told.map((change) => changeText(change)))).toEqual(
    new Set(["retention.outbox.maxBytes: 8388608 → 4194304", "retention.mail.maxBytes: 8388608 → 16777216"]),
  );
  expect(await provision(bus, topology(changed))).toEqual([]);
});

test("a limit that was none is told as such", async () => {
  fixture = await startFixture();
  const bus = await fixture.connect();
  await provision(bus, topology(SMALL));
  const jsm = await jetstreamManager(wireOf(bus).nc);
  await jsm.streams.update("OUTBOX", { max_bytes: -1 });
  expect(await provision(bus, topology(SMALL))).toEqual([
    { setting: "retention.outbox.maxBytes", from: "unlimited", to: 8 * MIB },
  ]);
});

test("what was changed before the server refused the rest is told with the refusal", async () => {
  fixture = await startFixture();
  const bus = await fixture.connect();
  await provision(bus, topology(SMALL));
  const huge = Retention.parse({ mail: { maxBytes: 16 * MIB }, segments: { maxBytes: Number.MAX_SAFE_INTEGER } });
  await expect(provision(bus, topology(huge))).rejects.toThrow(
    /no room for bucket segments .*\(changed before that: .*retention\.mail\.maxBytes: 8388608 → 16777216.*\)$/,
  );
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
