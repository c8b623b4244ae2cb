import { DeadLetter, Job, type SessionKey } from "@troupe/contracts";
import { expect, test } from "vitest";
import { backoffMs } from "../src/job-rules.js";
import { JOB_DEFAULTS } from "../src/index.js";
import { answering, JobScene, KEY, never, SUBJECT } from "./job-scene.js";

const TRACE = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
const RULES = { maxAttempts: 4, backoffMs: 1_000, longestBackoffMs: 60_000 };
const fails = async () => ({ kind: "retry", reason: "no model answers" }) as const;

const pausesOf = (times: readonly number[]): number[] => times.slice(1).map((at, n) => at - (times[n] ?? 0));

test("J4 the pauses double, between half and all of it, and end at the longest", () => {
  const rules = { ...JOB_DEFAULTS, backoffMs: 1_000, longestBackoffMs: 5_000 };
  expect([1, 2, 3, 4, 9].map((n) => backoffMs(rules, n, 0))).toEqual([500, 1_000, 2_000, 2_500, 2_500]);
  expect([1, 2, 3, 4, 9].map((n) => backoffMs(rules, n, 1))).toEqual([1_000, 2_000, 4_000, 5_000, 5_000]);
});

test("J4 a job that fails is tried as often as is allowed, then lies in DEAD with the reason, and its subject is free", async () => {
  const scene = new JobScene();
  await scene.put(KEY, 0, TRACE);
  const body = scene.jobs.waiting.get(SUBJECT)?.text;
  await scene.process({ rules: RULES, work: fails });
  await scene.until(() => scene.has("dead") && scene.jobs.waiting.size === 0);
  expect(pausesOf(scene.workedAt)).toEqual([750, 1_500, 3_000]);
  expect(scene.jobs.dead).toHaveLength(1);
  const [dead] = scene.jobs.dead;
  expect(dead?.subject).toBe(`dead.job.${KEY}`);
  const letter = DeadLetter.parse(dead?.body);
  expect(letter).toEqual({
    v: 1,
    id: dead?.id,
    kind: "job",
    subject: SUBJECT,
    seq: 1,
    reason: "no model answers",
    body,
  });
  expect(Job.parse(JSON.parse(letter.body))).toMatchObject({ kind: "review", session: KEY, generation: 0 });
  // It is not looked at again: what is still due waits for the next commit.
  expect(await scene.put()).toBe("published");
});

test("J4 what throws, in a look or in the work, is a failed attempt; a later success ends the job", async () => {
  const scene = new JobScene();
  await scene.put();
  let looks = 0;
  await scene.process({
    rules: RULES,
    due: async () => {
      if (looks++ === 0) throw new Error("the state cannot be read");
      return { generation: 0, due: scene.isDone ? null : "all" };
    },
    work: async (_task, _signal, attempt) => {
      if (attempt === 1) throw new Error("a defect");
      return { kind: "done" };
    },
  });
  await scene.until(() => scene.has("settled"));
  const failed = scene.events.flatMap((event) => (event.kind === "failed" ? [[event.failures, event.reason]] : []));
  expect(failed).toEqual([
    [1, "the state cannot be read"],
    [2, "a defect"],
  ]);
  expect(scene.jobs.dead).toEqual([]);
});

test("J4 who says when is not asked before", async () => {
  const scene = new JobScene();
  await scene.put();
  await scene.process({
    rules: RULES,
    work: async (_task, _signal, attempt) =>
      attempt === 1 ? { kind: "retry", reason: "429", afterMs: 20_000 } : { kind: "done" },
  });
  await scene.until(() => scene.has("settled"));
  expect(pausesOf(scene.workedAt)).toEqual([20_000]);
});

test("J4 a hopeless job is given up at once", async () => {
  const scene = new JobScene();
  await scene.put();
  await scene.process({ work: async () => ({ kind: "give-up", reason: "too large for any model" }) });
  await scene.until(() => scene.jobs.dead.length > 0 && scene.jobs.waiting.size === 0);
  expect(scene.workedAt).toHaveLength(1);
  expect(scene.jobs.dead[0]?.body["reason"]).toBe("too large for any model");
});

test("J4 an early delivery, for a server may forget a delay, waits for the rest of the pause", async () => {
  const scene = new JobScene();
  await scene.put();
  await scene.process({
    rules: RULES,
    work: async (_task, _signal, attempt) => (attempt < 3 ? fails() : { kind: "done" }),
    ports: ({ jobs }) => ({ jobs: answering(jobs, (job) => ({ nak: (ms) => job.nak(Math.min(ms, 100)) })) }),
  });
  await scene.until(() => scene.has("settled"));
  expect(pausesOf(scene.workedAt).map((ms) => Math.floor(ms / 100))).toEqual([7, 15]);
  expect(scene.events.filter((event) => event.kind === "failed")).toHaveLength(2);
});

test("J4 a clock far ahead makes a job wait no longer than the longest pause", async () => {
  const scene = new JobScene();
  await scene.put();
  await scene.process({
    rules: { ...RULES, longestBackoffMs: 4_000 },
    work: async (_task, _signal, attempt) => (attempt === 1 ? fails() : { kind: "done" }),
    ports: ({ attempts, jobs }) => ({
      attempts: {
        ...attempts,
        read: (key) => attempts.read(key, "leader"),
        write: (key, text, revision) =>
          attempts.write(key, text.replace(/"notBefore":[1-9]\d*/, `"notBefore":9e15`), revision),
      },
      jobs,
    }),
  });
  await scene.pass(4_000);
  await scene.until(() => scene.has("given-back"));
  expect(scene.workedAt).toHaveLength(1);
});

test("J4, J5 processes that die of a job are counted, by whoever comes next, and the last one buries it", async () => {
  const scene = new JobScene();
  await scene.put();
  for (let n = 0; n < RULES.maxAttempts; n++) {
    const dying = await scene.process({ rules: RULES, work: never, ports: mute });
    await scene.until(() => scene.workedAt.length === n + 1);
    void dying.drain(Infinity);
  }
  await scene.process({ rules: RULES });
  await scene.until(() => scene.jobs.dead.length > 0 && scene.jobs.waiting.size === 0);
  expect(scene.jobs.dead[0]?.body["reason"]).toBe("the process that worked on it ended without a word");
  expect(scene.workedAt).toHaveLength(RULES.maxAttempts);
});

test("J4 the dead letter goes out before the ack; when neither is known to have arrived, both are repeated", async () => {
  const scene = new JobScene();
  await scene.put();
  const sent: string[] = [];
  await scene.process({
    work: async () => ({ kind: "give-up", reason: "no" }),
    ports: ({ jobs, publish }) => ({
      publish: {
        publish: async (effect) => {
          sent.push("dead");
          if (sent.length === 1) throw new Error("no answer");
          await publish.publish(effect);
          if (sent.length === 2) throw new Error("answer lost");
          return publish.publish(effect);
        },
      },
      jobs: answering(jobs, (job) => ({
        ack: () => {
          sent.push("ack");
          return job.ack();
        },
      })),
    }),
  });
  await scene.until(() => scene.jobs.waiting.size === 0);
  expect(sent).toEqual(["dead", "dead", "dead", "ack"]);
  expect(scene.jobs.dead).toHaveLength(1);
  expect(scene.workedAt).toHaveLength(1);
});

test("J2 a piece that is done but stays due under its name goes to DEAD instead of round in circles", async () => {
  const scene = new JobScene();
  await scene.put();
  await scene.process({ rules: RULES, due: async () => ({ generation: 0, due: "0-40" }) });
  await scene.until(() => scene.jobs.dead.length > 0 && scene.jobs.waiting.size === 0);
  expect(scene.workedAt).toHaveLength(RULES.maxAttempts);
  expect(scene.jobs.dead[0]?.body["reason"]).toContain('"0-40" is due again');
});

test("K10 a state older than the job was derived from is not taken for the newest", async () => {
  const scene = new JobScene();
  await scene.put("http.b" as SessionKey, 3);
  let generation = 2;
  await scene.process({ rules: RULES, due: async () => ({ generation: generation++, due: null }) });
  await scene.until(() => scene.has("settled"));
  expect(scene.events.filter((event) => event.kind === "failed")).toHaveLength(1);
});

/** What a dying process would have said is not heard. */
const mute: NonNullable<Parameters<JobScene["process"]>[0]>["ports"] = ({ jobs }) => ({
  jobs: answering(jobs, (job) => {
    let calls = 0;
    return { nak: () => undefined, working: () => (calls++ === 0 ? job.working() : never()) };
  }),
});
