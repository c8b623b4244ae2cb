import { expect, test } from "vitest";
import { runsOf } from "../src/entry.js";
import type { DrainLimits, Entry } from "../src/index.js";
import { simActor } from "../src/testing/index.js";
import { ActorRun, type Write } from "./actor-run.js";

const actor = simActor();
const LIMITS: DrainLimits = { graceMs: 5_000, handOverMs: 2_000 };

/** A host that waits for a run of its, and a store that can be taken away. */
async function waiting() {
  const store = { isAway: false, aborted: 0, started: 0 };
  const hanging = {
    start: () => {
      store.started += 1;
      return { outcome: new Promise<never>(() => undefined), abort: () => void (store.aborted += 1) };
    },
  };
  const leaving =
    (write: Write): Write =>
    (...args) =>
      store.isAway ? Promise.reject(new Error("no connection")) : write(...args);
  const run = new ActorRun(actor, hanging, leaving);
  const answers = await run.ring(await run.ports.putMail("k", "in", "u1"), () => store.started > 0);
  const entry = (): Entry<unknown, unknown> => JSON.parse(run.ports.broker.read("k")?.text ?? "");
  return { run, store, answers, entry };
}

/** Drains to its end: what was left, and how long it took. */
async function drained({ run }: Awaited<ReturnType<typeof waiting>>, limits = LIMITS) {
  const begunAt = run.ports.now();
  let left: number | undefined;
  void run.host.drain(limits).then((keys) => {
    left = keys;
  });
  await run.until(() => left !== undefined);
  return { left, tookMs: run.ports.now() - begunAt };
}

test("K5: a drain hands over at a commit what does not end in its grace", async () => {
  const world = await waiting();
  const { left, tookMs } = await drained(world);
  expect(left).toBe(0);
  expect(tookMs).toBeGreaterThanOrEqual(LIMITS.graceMs);
  expect(tookMs).toBeLessThan(LIMITS.graceMs + 500);
  expect(world.entry().lease).toBeNull();
  expect(runsOf(world.entry())).toHaveLength(1);
  expect(world.store.aborted).toBe(1);
  expect(world.answers).toEqual(["nak 0"]);
});

test("K5: a drain leaves to its lease what cannot be committed, and ends all the same", async () => {
  const world = await waiting();
  world.store.isAway = true;
  const { left, tookMs } = await drained(world);
  expect(left).toBe(1);
  expect(tookMs).toBeLessThan(LIMITS.graceMs + LIMITS.handOverMs + 500);
  expect(world.entry().lease).not.toBeNull();
  expect(world.answers).toEqual([]);
});

test("K11: a drain does not wait for the next attempt at what failed, but gives its bell back", async () => {
  const world = await waiting();
  const { run } = world;
  const answers = await run.ring(await run.ports.putMail("other", "in", "x1"), () =>
    run.events.some(({ kind }) => kind === "poison"),
  );
  const { left, tookMs } = await drained(world, { graceMs: 0, handOverMs: 2_000 });
  expect(left).toBe(0);
  expect(tookMs).toBeLessThan(500);
  expect(answers).toEqual(["nak 0"]);
  const { lease, attempts } = JSON.parse(run.ports.broker.read("other")?.text ?? "") as Entry<unknown, unknown>;
  expect(lease).toBeNull();
  expect(attempts).toHaveLength(1);
});
