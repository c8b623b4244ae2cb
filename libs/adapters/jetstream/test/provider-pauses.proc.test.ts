import { BUCKET, digestOf, Retention, topology } from "@troupe/contracts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bucketStream, entrySubject } from "../src/bucket.js";
import { wireOf } from "../src/bus.js";
import { type Bus, type ProviderPauses, providerPauses } from "../src/index.js";
import { readFromLeader } from "../src/stored-message.js";
import { publishOnce } from "../src/stored-publish.js";
import { headersOf } from "../src/wire.js";
import { eventually } from "./condition.js";
import { type NatsFixture, provisioned, startFixture } from "./nats-fixture.js";

let fixture: NatsFixture;
let bus: Bus;
const running: { stop(): Promise<void> }[] = [];

beforeEach(async () => {
  fixture = await startFixture();
  bus = await provisioned(fixture);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()));
  await fixture.stop();
});

const NEAR = "near http://near/v1";
const FAR = "far https://far/v1";

interface Process {
  readonly pauses: ProviderPauses;
  readonly told: string[];
  readonly troubles: string[];
}

async function process(on?: Bus): Promise<Process> {
  const told: string[] = [];
  const troubles: string[] = [];
  const pauses = providerPauses(on ?? (await fixture.connect()), {
    onPause: (provider, { code, lengthMs }) => told.push(`${provider} ${code} ${lengthMs}`),
    onTrouble: (line) => troubles.push(line),
  });
  running.push(await pauses.start([NEAR, FAR]));
  return { pauses, told, troubles };
}

const leftMs = ({ pauses }: Process, provider = NEAR): number => pauses.of(provider)?.leftMs ?? 0;

async function storedUntil(): Promise<number> {
  const subject = entrySubject(BUCKET.pauses, digestOf(NEAR));
  const found = await readFromLeader(wireOf(bus), bucketStream(BUCKET.pauses), { last_by_subj: subject });
  return JSON.parse(found?.text ?? "{}").untilAt;
}

test("P1 a pause holds at once where it began, and soon everywhere, for its provider alone", async () => {
  const [a, b] = [await process(), await process()];
  const written = a.pauses.pause(NEAR, 60_000, "rate_limited");
  expect(leftMs(a)).toBeGreaterThan(59_000);
  await eventually(() => leftMs(b) > 0);
  expect(leftMs(b)).toBeGreaterThan(55_000);
  expect(leftMs(b)).toBeLessThanOrEqual(60_000);
  expect(b.pauses.of(NEAR)).toMatchObject({ lengthMs: 60_000, code: "rate_limited" });
  expect([leftMs(a, FAR), leftMs(b, FAR)]).toEqual([0, 0]);
  await written;
  expect(a.told).toEqual([`${NEAR} rate_limited 60000`]);
  expect(b.told).toEqual(a.told);
});

test("a pause ends by itself, and the next one is known again", async () => {
  const [a, b] = [await process(), await process()];
  await a.pauses.pause(NEAR, 150, "overloaded");
  await eventually(() => leftMs(a) === 0 && leftMs(b) === 0);
  await b.pauses.pause(NEAR, 60_000, "overloaded");
  await eventually(() => leftMs(a) > 0);
});

test("P2 whoever writes last, the latest end stands, also for who comes later", async () => {
  const all = [await process(), await process(), await process()];
  const asked = [5_000, 90_000, 20_000, 40_000, 1_000, 60_000];
  await Promise.all(asked.map((ms, i) => all[i % 3]?.pauses.pause(NEAR, ms, "rate_limited")));
  await eventually(() => all.every((one) => leftMs(one) > 85_000));
  expect((await storedUntil()) - Date.now()).toBeGreaterThan(80_000);
  expect(leftMs(await process())).toBeGreaterThan(80_000);
  expect(all.flatMap(({ troubles }) => troubles)).toEqual([]);
});

test("P3 who starts during a pause knows it before its first call", async () => {
  const a = await process();
  await a.pauses.pause(FAR, 60_000, "overloaded");
  const late = await process();
  expect(late.pauses.of(FAR)).toMatchObject({ lengthMs: 60_000, code: "overloaded" });
});

test("many refusals at the same time are one entry, not many", async () => {
  const a = await process();
  const before = await lastSeq();
  await Promise.all(Array.from({ length: 50 }, () => a.pauses.pause(NEAR, 60_000, "rate_limited")));
  expect((await lastSeq()) - before).toBe(1);
  expect(a.told).toHaveLength(1);
});

test("no pause is longer than an entry lives", async () => {
  const a = await process();
  await a.pauses.pause(NEAR, 86_400_000, "rate_limited");
  const spec = topology(Retention.parse({})).buckets.find(({ name }) => name === BUCKET.pauses);
  expect(leftMs(a)).toBeLessThanOrEqual(spec?.ttlMs ?? 0);
  expect(leftMs(a)).toBeGreaterThan(3_500_000);
});

test("P4 an entry from a clock far ahead holds no longer than its pause; what cannot be read is ignored", async () => {
  const a = await process();
  const put = (key: string, body: string) =>
    publishOnce(wireOf(bus), { subject: entrySubject(BUCKET.pauses, key), body, headers: headersOf({}) });
  await put(digestOf(NEAR), "no json");
  await put(digestOf(NEAR), JSON.stringify({ v: 1, provider: NEAR, code: "overloaded", untilAt: "soon" }));
  const untilAt = Date.now() + 40_000_000;
  await put(digestOf(FAR), JSON.stringify({ v: 1, provider: FAR, code: "overloaded", untilAt, lengthMs: 5_000 }));
  await eventually(() => leftMs(a, FAR) > 0);
  expect(leftMs(a, FAR)).toBeLessThanOrEqual(5_000);
  expect(leftMs(a)).toBe(0);
  // And it is replaced all the same.
  await a.pauses.pause(NEAR, 60_000, "rate_limited");
  expect(a.troubles).toEqual([]);
  expect(leftMs(await process())).toBeGreaterThan(55_000);
});

test("an entry of a newer version stays, and the operator hears that the others do not know", async () => {
  const a = await process();
  const newer = '{"v":9,"said":"in another form"}';
  const subject = entrySubject(BUCKET.pauses, digestOf(NEAR));
  await publishOnce(wireOf(bus), { subject, body: newer, headers: headersOf({}) });
  for (let n = 1; n <= 2; n += 1) await a.pauses.pause(NEAR, n * 60_000, "rate_limited");
  expect(leftMs(a)).toBeGreaterThan(55_000);
  expect((await readFromLeader(wireOf(bus), bucketStream(BUCKET.pauses), { last_by_subj: subject }))?.text).toBe(newer);
  expect(a.troubles[0]).toMatch(/known to this process only: a newer version \(schema 9\) has written it/);
});

test("without NATS the pause holds here, and the operator hears that the others do not know", async () => {
  const own = await fixture.connect();
  const a = await process(own);
  await own.close();
  await a.pauses.pause(NEAR, 60_000, "rate_limited");
  expect(leftMs(a)).toBeGreaterThan(55_000);
  expect(a.troubles[0]).toContain("is known to this process only");
});

async function lastSeq(): Promise<number> {
  const subject = entrySubject(BUCKET.pauses, digestOf(NEAR));
  const found = await readFromLeader(wireOf(bus), bucketStream(BUCKET.pauses), { last_by_subj: subject });
  return found?.seq ?? 0;
}
