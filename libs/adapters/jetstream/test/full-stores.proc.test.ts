import { BUCKET, outboxSubject, Retention, type Topology, topology } from "@troupe/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bucketStream, entrySubject } from "../src/bucket.js";
import { wireOf } from "../src/bus.js";
import {
  type Bus,
  deliveryLedger,
  inboundLedger,
  provision,
  publishPort,
  segmentStore,
  statePort,
  storeLevels,
  StreamFull,
} from "../src/index.js";
import { publishOnce } from "../src/stored-publish.js";
import { headersOf } from "../src/wire.js";
import { keyOf, type NatsFixture, startFixture } from "./nats-fixture.js";

const MIB = 1024 * 1024;
const KEY = keyOf("a");

/** The buckets of this test as small as they can be, also where their size follows from other things. */
function small(): Topology {
  const declared = topology(Retention.parse({ jobs: { maxBytes: MIB } }));
  return { ...declared, buckets: declared.buckets.map((spec) => ({ ...spec, maxBytes: MIB })) };
}

let fixture: NatsFixture;
let bus: Bus;
beforeAll(async () => {
  fixture = await startFixture();
  bus = await fixture.connect();
  await provision(bus, small());
});
afterAll(() => fixture.stop());

/** Until nothing more fits, however small. */
async function fill(subjectOf: (n: number) => string): Promise<void> {
  let n = 0;
  for (const size of [100_000, 10_000, 1_000, 100, 1]) {
    for (let isFull = false; !isFull; n += 1) {
      const message = { subject: subjectOf(n), body: "x".repeat(size), headers: headersOf({}) };
      isFull = await publishOnce(wireOf(bus), message).then(
        () => false,
        () => true,
      );
    }
  }
}

const job = { kind: "publish", id: "j", bell: null, subject: `job.consolidation.${KEY}`, body: {} } as const;

test.each([
  ["sessions", "retention.sessions", () => statePort(bus).write(KEY, "{}", 0)],
  ["segments", "retention.segments", () => segmentStore(bus).create(`${KEY}.0.0-1.x`, "[]")],
  ["inbound", "retention.inbound", () => inboundLedger(bus).record(KEY, "m", { turn: "t_1", digest: "d" })],
  ["deliveries", "retention.outbox", () => deliveryLedger(bus).write({ key: KEY, id: "r_1" }, "{}", 0)],
] as const)("%s that is full says so, and which setting raises it", async (bucket, setting, write) => {
  await fill((n) => entrySubject(bucket, `http.x.ballast${n}`));
  const cause = await Promise.resolve(write()).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(cause).toBeInstanceOf(StreamFull);
  expect(cause).toMatchObject({
    store: bucket,
    message: expect.stringContaining(`(${bucket}) is full: raise ${setting}`),
  });
  const [level] = await storeLevels(bus, [bucket]);
  expect(level).toMatchObject({ bucket, maxBytes: MIB });
  expect(level?.bytes).toBeGreaterThan(MIB - 1_000);
});

test("JOBS that is full says so; OUTBOX makes room by itself", async () => {
  await fill((n) => `job.review.http.ballast${n}`);
  await expect(publishPort(bus).publish(job)).rejects.toThrow("JOBS is full: raise retention.jobs.maxBytes");
  const reply = { ...job, id: "r", subject: outboxSubject(KEY) };
  expect(await publishPort(bus).publish(reply)).toBe("published");
});

test("an entry that gets smaller fits into a full bucket: an erasure makes room", async () => {
  const before = (
    await publishOnce(wireOf(bus), {
      subject: entrySubject(BUCKET.pauses, "a"),
      body: "x".repeat(5_000),
      headers: headersOf({}),
    })
  ).seq;
  await fill((n) => entrySubject(BUCKET.pauses, `ballast${n}`));
  expect(bucketStream(BUCKET.pauses)).toBe("KV_pauses");
  expect(await statePort(bus, BUCKET.pauses).write("a", "{}", before)).toMatchObject({ kind: "stored" });
});
