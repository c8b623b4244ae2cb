import { DeadLetter, deadSubject, decode, Job, jobSubject, type SessionKey } from "@troupe/contracts";
import { ensureBuilt } from "@troupe/testkit";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { BareNats } from "../e2e/hostile-nats.js";
import { ConversationState, THRESHOLD } from "./conversation-state.js";
import { JobProcess } from "./job-process.js";
import { eventually, NatsScene } from "./nats-scene.js";

let scene: NatsScene;
let conversations: ConversationState;
let nats: BareNats;
const running: JobProcess[] = [];

// Jobs of dead processes come again after ten seconds, and processes start slowly on a busy machine.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

beforeAll(async () => {
  await ensureBuilt();
  scene = await NatsScene.open();
  conversations = new ConversationState(await scene.connect());
  nats = await BareNats.open(scene.server);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.kill()));
  // What a failed test has left is not for the next one.
  await nats.ask("$JS.API.STREAM.PURGE.JOBS", "");
});
afterAll(async () => {
  nats?.close();
  await scene?.close();
});

async function start(env: Readonly<Record<string, string>> = {}): Promise<JobProcess> {
  const process = await JobProcess.start({ server: scene.server, conversations, env });
  running.push(process);
  return process;
}

let serial = 0;
const newKey = (): SessionKey => `http.j${++serial}` as SessionKey;

const waitingJob = (key: SessionKey): Promise<string | null> => nats.last("JOBS", jobSubject("consolidation", key));
const lastDead = (key: SessionKey): Promise<string | null> => nats.last("DEAD", deadSubject("job", key));

/** Everything is consolidated and no job is left. */
async function isDone(key: SessionKey): Promise<boolean> {
  const { state } = await conversations.read(key);
  return state.messageCount === state.lastConsolidated && (await waitingJob(key)) === null;
}

test("J1, J2 a second job is refused while the first runs, and what it was for is done before the first one's ack", async () => {
  const key = newKey();
  const consumer = await start();
  consumer.reply = ({ say }) => (say === "work" ? "wait" : "go on");
  expect(await conversations.commit(key, THRESHOLD - 1)).toBe("not due");
  expect(await conversations.commit(key, 1)).toBe("published");
  const work = await consumer.question("work");
  expect(await conversations.commit(key, THRESHOLD)).toBe("waiting");
  consumer.reply = () => "go on";
  await consumer.answer(work, "go on");
  await eventually(() => isDone(key));
  await eventually(() => consumer.events("settled").length === 1);
  expect(consumer.asked.map(({ say }) => say)).toEqual(["look", "work", "look", "work", "look", "look"]);
  expect(consumer.events("settled")).toEqual([expect.objectContaining({ again: false })]);
});

test("J3 a commit between the last look and the ack has its job refused, and the work is done all the same", async () => {
  const key = newKey();
  const consumer = await start();
  consumer.reply = (asked) => (asked.say === "look" && asked.look.due === null ? "wait" : "go on");
  await conversations.commit(key, THRESHOLD);
  const last = await consumer.question("look", 2);
  expect(await conversations.commit(key, THRESHOLD)).toBe("waiting");
  consumer.reply = () => "go on";
  await consumer.answer(last, "go on");
  await eventually(() => isDone(key));
  await eventually(() => consumer.events("settled").length === 2);
  expect(consumer.events("settled").map(({ again }) => again)).toEqual([true, false]);
});

test("J3 a death right behind the ack may leave such work to the session's next commit, which says it anew", async () => {
  const key = newKey();
  const dying = await start();
  dying.reply = (asked) => (asked.say === "look" && asked.look.due === null ? "wait" : "go on");
  await conversations.commit(key, THRESHOLD);
  const last = await dying.question("look", 2);
  expect(await conversations.commit(key, THRESHOLD)).toBe("waiting");
  await dying.answer(last, "go on");
  // The look behind the ack has been made and is not answered yet.
  dying.reply = () => "wait";
  await dying.question("look", 3);
  expect(await waitingJob(key)).toBeNull();
  await dying.kill();
  await start();
  expect(await isDone(key)).toBe(false);
  expect(await conversations.commit(key, 1)).toBe("published");
  await eventually(() => isDone(key));
});

test("J5 a process killed in the middle of its work: another one does it, once", async () => {
  const key = newKey();
  const dying = await start();
  dying.reply = ({ say }) => (say === "work" ? "wait" : "go on");
  await conversations.commit(key, THRESHOLD);
  await dying.question("work");
  const other = await start();
  await dying.kill();
  await eventually(() => isDone(key));
  await eventually(() => other.events("settled").length === 1);
  expect(other.events("begun")).toEqual([expect.objectContaining({ attempt: 2 })]);
  expect(other.asked.filter(({ say }) => say === "work")).toHaveLength(1);
  expect(await lastDead(key)).toBeNull();
});

test("J5 a process that stood still finds its job gone, stops its work, and disturbs nobody", async () => {
  const key = newKey();
  const halted = await start();
  halted.reply = ({ say }) => (say === "work" ? "wait" : "go on");
  await conversations.commit(key, THRESHOLD);
  const work = await halted.question("work");
  halted.pause();
  const other = await start();
  other.reply = ({ say }) => (say === "work" ? "wait" : "go on");
  const theirs = await other.question("work");
  halted.resume();
  await eventually(() => halted.has("aborted"), "an abort");
  await eventually(() => halted.events("lost").length === 1);
  // Whatever it does now comes too late, and what it may still write is fenced by the state.
  await halted.answer(work, "go on");
  await eventually(async () => (await conversations.read(key)).state.lastConsolidated === THRESHOLD);
  expect(await waitingJob(key)).not.toBeNull();
  await other.answer(theirs, "go on");
  await eventually(() => isDone(key));
  await eventually(() => other.events("settled").length === 1);
  expect(other.events("worked")).toEqual([expect.objectContaining({ how: "stale" })]);
});

test("J4 failures are counted over processes and restarts of the server, with growing pauses, then end in DEAD", async () => {
  const key = newKey();
  await conversations.commit(key, THRESHOLD);
  const body = await waitingJob(key);
  const begunAt: number[] = [];
  const failing = async (upTo: number): Promise<JobProcess> => {
    const consumer = await start({ BACKOFF_MS: "1000", MAX_ATTEMPTS: "4" });
    consumer.reply = ({ say }) => {
      if (say === "look") return "go on";
      return begunAt.length === upTo ? "wait" : { fail: `no model, ${begunAt.push(performance.now())}` };
    };
    await eventually(() => begunAt.length === upTo && consumer.events("failed").length === 2, `failure ${upTo}`);
    return consumer;
  };
  const first = await failing(2);
  await first.kill();
  await scene.server.restart();
  nats.close();
  nats = await BareNats.open(scene.server);
  const second = await failing(4);
  await eventually(async () => (await waitingJob(key)) === null);
  const failures = [...first.events("failed"), ...second.events("failed")].map((event) => event["failures"]);
  expect(failures).toEqual([1, 2, 3, 4]);
  const pauses = begunAt.slice(1).map((at, n) => at - (begunAt[n] ?? 0));
  // Half of one second, two and four at least.
  for (const [n, least] of [500, 1_000, 2_000].entries()) expect(pauses[n]).toBeGreaterThan(least);
  const letter = decode(DeadLetter, (await lastDead(key)) ?? "");
  if (letter.kind !== "ok") throw new Error("no dead letter");
  const { subject, reason } = letter.message;
  expect([subject, reason]).toEqual([jobSubject("consolidation", key), "no model, 4"]);
  expect(letter.message.body).toBe(body);
  expect(Job.parse(JSON.parse(letter.message.body))).toMatchObject({ session: key, generation: 0 });
  // The subject is free, and the next commit begins anew.
  second.reply = () => "go on";
  expect(await conversations.commit(key, 1)).toBe("published");
  await eventually(() => isDone(key));
});

test("J7 what is no job lies in DEAD with the reason, and jobs behind it are done", async () => {
  const [bad, good] = [newKey(), newKey()];
  const consumer = await start();
  await nats.ask(jobSubject("consolidation", bad), "{ not a job");
  await nats.ask("job.consolidation.x", "{}");
  await conversations.commit(good, THRESHOLD);
  await eventually(() => isDone(good));
  await eventually(async () => (await waitingJob(bad)) === null);
  expect(JSON.parse((await lastDead(bad)) ?? "")).toMatchObject({
    kind: "job",
    body: "{ not a job",
    reason: "the body is not JSON",
  });
  await eventually(async () => (await nats.last("DEAD", "dead.job.unknown.unknown")) !== null);
  expect(consumer.events("dead")).toHaveLength(2);
});

test("J8 a process that ends gives its job back, without a failure", async () => {
  const key = newKey();
  const ending = await start();
  ending.reply = ({ say }) => (say === "work" ? "wait" : "go on");
  await conversations.commit(key, THRESHOLD);
  await ending.question("work");
  const other = await start();
  ending.drain(0);
  await eventually(() => other.events("begun").length > 0);
  expect(other.events("begun")).toEqual([expect.objectContaining({ attempt: 1 })]);
  await eventually(() => ending.has("drained"));
  await eventually(() => isDone(key));
});
