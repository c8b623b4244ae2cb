import { expect, test } from "vitest";
import { HOST_DEFAULTS } from "../src/index.js";
import { simActor } from "../src/testing/index.js";
import { ActorRun, type Write } from "./actor-run.js";

const actor = simActor();
const hanging = { start: () => ({ outcome: new Promise<never>(() => undefined), abort: () => undefined }) };

test("K9: a store that refuses every write is left alone for a while, and the bell rings again later", async () => {
  const refusing = (): Write => () => Promise.reject(new Error("maximum bytes exceeded"));
  const run = new ActorRun(actor, hanging, refusing);
  const begunAt = run.ports.now();
  expect(await run.ring(await run.ports.putMail("k", "in", "u1"))).toEqual(["nak 2000"]);
  expect(run.calls.filter((call) => call === "commit").length).toBe(5);
  expect(run.ports.now() - begunAt).toBeGreaterThanOrEqual(50 + 100 + 200 + 400);
  expect(run.host.size).toBe(0);
});

test("K9: an owner whose commits fail tries on with growing pauses until its lease is over", async () => {
  let isFull = false;
  const filling =
    (write: Write): Write =>
    (...args) =>
      isFull ? Promise.reject(new Error("maximum bytes exceeded")) : write(...args);
  const starting = {
    start: () => {
      isFull = true;
      return hanging.start();
    },
  };
  const run = new ActorRun(actor, starting, filling);
  expect(await run.ring(await run.ports.putMail("k", "in", "u1"))).toEqual(["nak 0"]);
  const tried = run.calls.filter((call) => call === "commit").length - 1;
  expect(tried).toBeGreaterThan(3);
  expect(tried).toBeLessThan(12);
});

test("K9: a write that is refused by a conflict is made again at once", async () => {
  let conflicts = 8;
  const conflicting =
    (write: Write): Write =>
    async (...args) =>
      conflicts-- > 0 ? { kind: "refused" } : write(...args);
  const run = new ActorRun(actor, hanging, conflicting);
  const begunAt = run.ports.now();
  await run.ring(await run.ports.putMail("k", "in", "d1"));
  expect(run.ports.now() - begunAt).toBeLessThanOrEqual(100);
  expect(conflicts).toBeLessThan(0);
});

test("K9: a write that fails once is made again after a short pause", async () => {
  let failures = 1;
  const failing =
    (write: Write): Write =>
    (...args) =>
      failures-- > 0 ? Promise.reject(new Error("timed out")) : write(...args);
  const run = new ActorRun(actor, hanging, failing);
  expect(await run.ring(await run.ports.putMail("k", "in", "d1"))).toEqual(["ack"]);
});

/** The first commit's answer comes so late that others may take its owner for dead. */
function startedRuns(meanwhile: (run: ActorRun<never, never, never, never>) => Promise<void>) {
  const started: number[] = [];
  let commits = 0;
  let passing: () => Promise<void> = async () => undefined;
  const late =
    (write: Write): Write =>
    async (...args) => {
      const outcome = await write(...args);
      commits += 1;
      if (commits === 1) await passing();
      return outcome;
    };
  const runs = {
    start: ({ mail }: { mail: string }, { epoch }: { epoch: number }) => {
      started.push(commits);
      return { outcome: Promise.resolve({ mail, epoch }), abort: () => undefined };
    },
  };
  const run = new ActorRun(actor, runs, late);
  passing = async () => {
    await run.pass(HOST_DEFAULTS.silenceMs);
    await meanwhile(run as never);
  };
  return { run, started };
}

test("K5: a side-effecting run starts only after a commit that nobody can have taken over", async () => {
  const { run, started } = startedRuns(async () => undefined);
  expect(await run.ring(await run.ports.putMail("k", "in", "s1"))).toEqual(["ack"]);
  expect(started).toEqual([2]);
});

test("K5: a lease that is found again after a lost answer is no newer than its commit", async () => {
  const { run, started } = startedRuns(() => Promise.reject(new Error("no answer in time")));
  expect(await run.ring(await run.ports.putMail("k", "in", "s1"))).toEqual(["ack"]);
  expect(started).toEqual([2]);
});

test("K5: a run whose repetition is harmless needs no commit of its own", async () => {
  const { run, started } = startedRuns(async () => undefined);
  expect(await run.ring(await run.ports.putMail("k", "in", "u1"))).toEqual(["ack"]);
  expect(started).toEqual([1]);
});

test("K5: a side-effecting run does not start on a lease that another has taken meanwhile", async () => {
  const { run, started } = startedRuns(async ({ ports }) => {
    const stored = ports.broker.read("k");
    const entry = JSON.parse(stored?.text ?? "") as { epoch: number };
    const lease = { owner: "other-1", until: ports.now() + 10_000 };
    const taken = { ...entry, epoch: entry.epoch + 1, lease };
    ports.broker.write("k", JSON.stringify(taken), stored?.revision ?? 0);
  });
  expect(await run.ring(await run.ports.putMail("k", "in", "s1"))).toEqual(["nak 0"]);
  expect(started).toEqual([]);
});
