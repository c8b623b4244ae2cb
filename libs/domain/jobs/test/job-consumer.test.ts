import type { SessionKey } from "@troupe/contracts";
import { expect, test } from "vitest";
import type { JobEvent } from "../src/index.js";
import { answering, JobScene, KEY, never, SUBJECT } from "./job-scene.js";

const keys = (count: number): SessionKey[] => Array.from({ length: count }, (_, n) => `http.${n}` as SessionKey);

const ofKind = <K extends JobEvent["kind"]>(scene: JobScene, kind: K): Extract<JobEvent, { kind: K }>[] =>
  scene.events.flatMap((event) => (event.kind === kind ? [event as Extract<JobEvent, { kind: K }>] : []));

test("J2 what is due is done piece by piece, under the newest generation, before the job goes", async () => {
  const scene = new JobScene();
  await scene.put(KEY, 1, "trace");
  const pieces = ["a", "b", "c"];
  const tasks: unknown[] = [];
  await scene.process({
    due: async () => ({ generation: 2, due: pieces[0] ?? null }),
    work: async (task) => {
      tasks.push(task);
      pieces.shift();
      return { kind: "done" };
    },
  });
  await scene.until(() => scene.has("settled"));
  expect(tasks).toEqual(["a", "b", "c"].map((piece) => ({ key: KEY, generation: 2, piece, trace: "trace" })));
  expect(ofKind(scene, "settled")).toEqual([{ kind: "settled", subject: SUBJECT, again: false }]);
});

test("J2 a stale piece is no failure: what is due now is done instead", async () => {
  const scene = new JobScene();
  await scene.put();
  const pieces = ["old", "new"];
  await scene.process({
    due: async () => ({ generation: 0, due: pieces[0] ?? null }),
    work: async ({ piece }) => {
      pieces.shift();
      return { kind: piece === "old" ? "stale" : "done" };
    },
  });
  await scene.until(() => scene.has("settled"));
  expect(ofKind(scene, "worked").map(({ how }) => how)).toEqual(["stale", "done"]);
  expect(scene.has("failed")).toBe(false);
});

test("J2 a long row of pieces lets other jobs in between, and is no failure", async () => {
  const scene = new JobScene();
  const left = new Map([
    ["http.long", 9],
    ["http.short", 1],
  ]);
  const order: string[] = [];
  for (const key of left.keys()) await scene.put(key as SessionKey);
  await scene.process({
    rules: { concurrency: 1, maxRounds: 4, maxAttempts: 2 },
    due: async (key) => ({ generation: 0, due: left.get(key) === 0 ? null : `${left.get(key)} left` }),
    work: async ({ key }) => {
      order.push(key);
      left.set(key, (left.get(key) ?? 0) - 1);
      return { kind: "done" };
    },
  });
  await scene.until(() => ofKind(scene, "settled").length === 2);
  expect(order.map((key) => key.slice(5)).join(" ")).toMatch(/^(long ){4}short (long ?){5}$/);
  expect(ofKind(scene, "given-back").map(({ why }) => why)).toEqual(["others", "others"]);
  expect(scene.jobs.dead).toEqual([]);
});

test("J3 what becomes due between the last look and the ack is the next job, as its own was refused", async () => {
  const scene = new JobScene();
  await scene.put(KEY, 1, "trace");
  const answers: string[] = [];
  let generation = 1;
  await scene.process({
    due: async () => ({ generation, due: scene.isDone ? null : `all of ${generation}` }),
    ports: ({ jobs }) => ({
      jobs: answering(jobs, (job) => ({
        ack: async () => {
          if (answers.length === 0) {
            [scene.isDone, generation] = [false, 2];
            answers.push(await scene.put(KEY, 2));
          }
          return job.ack();
        },
      })),
    }),
  });
  await scene.until(() => ofKind(scene, "settled").length === 2);
  expect(answers).toEqual(["waiting"]);
  expect(scene.workedAt).toHaveLength(2);
  expect(ofKind(scene, "settled").map(({ again }) => again)).toEqual([true, false]);
  expect(scene.jobs.waiting.size).toBe(0);
});

test("J3 an ack that cannot be confirmed is followed by the next job, for something may have been missed", async () => {
  const scene = new JobScene();
  await scene.put();
  let acks = 0;
  await scene.process({
    rules: { settleTries: 2 },
    ports: ({ jobs }) => ({
      jobs: answering(jobs, (job) => ({
        ack: async () => {
          await job.ack();
          if (acks++ < 2) throw new Error("answer lost");
        },
      })),
    }),
  });
  await scene.until(() => ofKind(scene, "settled").length === 2);
  expect(ofKind(scene, "settled").map(({ again }) => again)).toEqual([true, false]);
  expect(scene.workedAt).toHaveLength(1);
});

test("J5 a job that is worked on for long stays here, and nobody else begins it", async () => {
  const scene = new JobScene();
  await scene.put();
  let finish: () => void = () => undefined;
  const first = await scene.process({
    work: async () => {
      await new Promise<void>((resolve) => (finish = resolve));
      return { kind: "done" };
    },
  });
  await scene.until(() => scene.workedAt.length === 1);
  await scene.process();
  await scene.pass(120_000);
  expect(scene.workedAt).toHaveLength(1);
  finish();
  await scene.until(() => first.size === 0);
  expect(scene.jobs.waiting.size).toBe(0);
});

test("J5 whoever cannot keep a job stops its work in time and says nothing more about it", async () => {
  const scene = new JobScene();
  await scene.put();
  let abortedAt: number | undefined;
  let finish: () => void = () => undefined;
  const said: string[] = [];
  const first = await scene.process({
    work: async (_task, signal) => {
      signal.addEventListener("abort", () => (abortedAt = scene.elapsed));
      await new Promise<void>((resolve) => (finish = resolve));
      return { kind: "retry", reason: "it was aborted" };
    },
    ports: ({ jobs }) => ({
      jobs: answering(jobs, (job) => {
        let calls = 0;
        return {
          working: () => (calls++ === 0 ? job.working() : never()),
          nak: () => void said.push("nak"),
          ack: async () => void said.push("ack"),
        };
      }),
    }),
  });
  await scene.until(() => scene.workedAt.length === 1);
  void first.drain(Infinity);
  await scene.process();
  await scene.until(() => scene.has("settled"));
  expect(abortedAt).toBe(10_000);
  finish();
  await scene.until(() => first.size === 0);
  expect(said).toEqual([]);
  expect(ofKind(scene, "lost")).toHaveLength(1);
  // The one that was cut off counts: it may have been what stopped its process.
  expect(ofKind(scene, "begun").map(({ attempt }) => attempt)).toEqual([1, 2]);
});

test("J6 no more jobs at once than allowed, and each that ends lets the next one begin", async () => {
  const scene = new JobScene();
  const done = new Set<string>();
  let [running, most] = [0, 0];
  for (const key of keys(7)) await scene.put(key);
  await scene.process({
    rules: { concurrency: 2 },
    due: async (key) => ({ generation: 0, due: done.has(key) ? null : "all" }),
    work: async ({ key }) => {
      most = Math.max(most, ++running);
      await scene.rest();
      running -= 1;
      done.add(key);
      return { kind: "done" };
    },
  });
  await scene.until(() => done.size === 7);
  expect(most).toBe(2);
});

test("J6 while a provider is short jobs stand back, also between two pieces, and no attempt is counted", async () => {
  const scene = new JobScene();
  await scene.put();
  const pieces = ["a", "b"];
  let pausedUntil = 30_000;
  const begun: [string, number][] = [];
  await scene.process({
    rules: { maxAttempts: 2 },
    standBackMs: () => Math.max(0, pausedUntil - scene.elapsed),
    due: async () => ({ generation: 0, due: pieces[0] ?? null }),
    work: async ({ piece }) => {
      begun.push([piece, scene.elapsed]);
      pieces.shift();
      if (piece === "a") pausedUntil = scene.elapsed + 10_000;
      return { kind: "done" };
    },
  });
  await scene.until(() => scene.has("settled"));
  // Behind the turns that waited too: spread over half of the pause again.
  expect(begun).toEqual([
    ["a", 37_500],
    ["b", 50_000],
  ]);
  expect(scene.has("failed")).toBe(false);
  expect(ofKind(scene, "begun").every(({ attempt }) => attempt === 1)).toBe(true);
});

test.each([
  ["no JSON", SUBJECT, "{", "not JSON"],
  ["another kind", SUBJECT, { v: 1, id: "x", kind: "embedding", session: KEY, generation: 0 }, "embedding"],
  ["another session", SUBJECT, { v: 1, id: "x", kind: "review", session: "http.b", generation: 0 }, "http.b"],
  ["no generation", SUBJECT, { v: 1, id: "x", kind: "review", session: KEY }, "generation"],
  [
    "a subject without a key",
    "job.review.x",
    { v: 1, id: "x", kind: "review", session: KEY, generation: 0 },
    "subject",
  ],
])(
  "J7 %s is no job: it lies in DEAD, whole, with the reason, and others go on",
  async (_name, subject, body, reason) => {
    const scene = new JobScene();
    const text = typeof body === "string" ? body : JSON.stringify(body);
    scene.jobs.put(subject, text);
    await scene.put("http.good" as SessionKey);
    await scene.process();
    await scene.until(() => scene.jobs.waiting.size === 0);
    expect(scene.jobs.dead.map((dead) => dead.body)).toEqual([
      expect.objectContaining({ kind: "job", subject, body: text, reason: expect.stringContaining(reason) }),
    ]);
    expect(scene.workedAt).toHaveLength(1);
  },
);

test("J7 a body larger than any job's is not kept whole, so that its dead letter fits", async () => {
  const scene = new JobScene();
  scene.jobs.put(SUBJECT, "\u0001".repeat(1_000_000));
  await scene.process();
  await scene.until(() => scene.jobs.waiting.size === 0);
  const letter = scene.jobs.dead[0]?.body;
  expect(JSON.stringify(letter).length).toBeLessThan(128 * 1024);
  expect(letter?.["reason"]).toContain("of 1000000 characters");
});

test("J7 a job of a newer version is left to others, which is said once", async () => {
  const scene = new JobScene();
  for (const key of keys(3)) scene.jobs.put(`job.review.${key}`, JSON.stringify({ v: 2, shape: "unknown" }));
  await scene.process();
  await scene.pass(60_000);
  expect(scene.events).toEqual([{ kind: "newer", subject: "job.review.http.0", version: 2 }]);
  expect(scene.jobs.waiting.size).toBe(3);
});

test("J8 a process that ends finishes what it can, gives back the rest at once, and that is no failure", async () => {
  const scene = new JobScene();
  const [quick, slow] = keys(2);
  for (const key of [quick, slow]) if (key !== undefined) await scene.put(key);
  const done = new Set<string>();
  const aborted: string[] = [];
  const options = {
    due: async (key: SessionKey) => ({ generation: 0, due: done.has(key) ? null : "all" }),
    rules: { maxAttempts: 1 },
  };
  const ending = await scene.process({
    ...options,
    work: async ({ key }, signal) => {
      signal.addEventListener("abort", () => aborted.push(key));
      await new Promise<void>((resolve) => (key === quick ? scene.clock.after(2_000, resolve) : undefined));
      done.add(key);
      return { kind: "done" };
    },
  });
  await scene.until(() => scene.workedAt.length === 2);
  const drained = ending.drain(5_000);
  await scene.put("http.later" as SessionKey);
  await scene.pass(5_000);
  await drained;
  expect([[...done], aborted]).toEqual([[quick], [slow]]);
  expect(ofKind(scene, "given-back").map(({ why }) => why)).toEqual(["drain"]);
  const since = scene.elapsed;
  await scene.process({ ...options, work: async ({ key }) => (done.add(key), { kind: "done" }) });
  await scene.until(() => done.size === 3);
  expect(scene.elapsed - since).toBeLessThan(1_000);
  expect(scene.jobs.dead).toEqual([]);
});
