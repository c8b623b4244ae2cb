import { expect, test } from "vitest";
import { type JobEvent, JOB_DEFAULTS } from "../src/index.js";
import { JobScene, never } from "./job-scene.js";

const reasonsIn = ({ events }: JobScene): string[] =>
  events.flatMap((event: JobEvent) => (event.kind === "failed" ? [event.reason] : []));

test("J3 a last look that never ends is none: the next job is there, and the process can drain", async () => {
  const scene = new JobScene();
  await scene.put();
  let looks = 0;
  const hanging = await scene.process({
    due: () => (++looks === 3 ? never() : Promise.resolve({ generation: 0, due: scene.isDone ? null : "all" })),
  });
  await scene.until(() => looks === 3);
  const drained = hanging.drain(1_000).then(() => "drained");
  await scene.pass(JOB_DEFAULTS.lookMs);
  expect(await Promise.race([drained, scene.rest()])).toBe("drained");
  expect(scene.events).toContainEqual(expect.objectContaining({ kind: "settled", again: true }));
  expect(scene.jobs.waiting.size).toBe(1);
});

test("J9 work that never ends is told to stop, and is a failed attempt", async () => {
  const scene = new JobScene();
  await scene.put();
  const abortedAt: number[] = [];
  await scene.process({
    rules: { workMs: 60_000, maxAttempts: 2 },
    work: (_task, signal) => {
      signal.addEventListener("abort", () => abortedAt.push(scene.elapsed));
      return never();
    },
  });
  await scene.until(() => scene.has("dead"));
  expect(abortedAt).toEqual(scene.workedAt.map((at) => at + 60_000));
  expect(reasonsIn(scene)).toEqual(["no end after 60000 ms", "no end after 60000 ms"]);
});

test("J9 work that ends in time is not told to stop, however many pieces there are", async () => {
  const scene = new JobScene();
  await scene.put();
  const pieces = ["a", "b", "c"];
  let isAborted = false;
  await scene.process({
    rules: { workMs: 60_000, lookMs: 1_000 },
    due: async () => ({ generation: 0, due: pieces[0] ?? null }),
    work: async (_task, signal) => {
      signal.addEventListener("abort", () => (isAborted = true));
      await new Promise<void>((resolve) => scene.clock.after(50_000, resolve));
      pieces.shift();
      return { kind: "done" };
    },
  });
  await scene.until(() => scene.has("settled"));
  await scene.pass(120_000);
  expect([pieces, isAborted, scene.has("failed")]).toEqual([[], false, false]);
});

test("J9 a first look that never ends is a failed attempt", async () => {
  const scene = new JobScene();
  await scene.put();
  let looks = 0;
  await scene.process({
    due: () => (++looks === 1 ? never() : Promise.resolve({ generation: 0, due: null })),
  });
  await scene.until(() => scene.has("settled"));
  expect(reasonsIn(scene)).toEqual([`no end after ${JOB_DEFAULTS.lookMs} ms`]);
});

test("J9 work that was interrupted leaves no limit behind that would keep its process awake", async () => {
  const scene = new JobScene();
  await scene.put();
  const ending = await scene.process({ work: never });
  await scene.until(() => scene.workedAt.length === 1);
  const drained = ending.drain(1_000);
  await scene.pass(1_000);
  await drained;
  expect(scene.has("given-back")).toBe(true);
  expect(scene.clock.nextAt).toBeGreaterThan(scene.clock.now() + JOB_DEFAULTS.workMs);
});
