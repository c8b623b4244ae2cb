import type { SessionKey } from "@troupe/contracts";
import { expect, test } from "vitest";
import { type SimCall, SimWorld, THRESHOLD } from "./sim-world.js";

const KEY = "http.a" as SessionKey;
const MOST_STEPS = 400;
const FAULTS = ["dies before", "dies after", "fails", "answer lost"] as const;
type Fault = (typeof FAULTS)[number];

interface Plan {
  /** Numbers of port calls, from 0: the one with the fault, and the one before which a commit makes more work due. */
  readonly fault?: { readonly at: number; readonly how: Fault };
  readonly commitAt?: number;
}

interface Story {
  readonly world: SimWorld;
  readonly labels: readonly string[];
  /** It died between its ack and what follows from the look behind it (J3). */
  readonly diedInGap: boolean;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A job for what is due is done by one process while another stands by; both see each port call in order. */
async function play({ fault, commitAt }: Plan): Promise<Story> {
  const world = new SimWorld();
  await world.commit(KEY, THRESHOLD);
  await world.start({ concurrency: 1 });
  const labels: string[] = [];
  let diedInGap = false;
  for (let step = 0; !world.isQuiet; ) {
    if (step > MOST_STEPS) throw new Error(`it never ends: ${world.trace.join("; ")}`);
    await turn();
    const call = world.calls.shift();
    if (call === undefined) {
      world.clock.moveTo(world.clock.nextAt);
      continue;
    }
    if (commitAt === step) await world.commit(KEY, THRESHOLD);
    const how = fault?.at === step ? fault.how : undefined;
    world.trace.push(`${step} ${call.process.name} ${call.label}${how === undefined ? "" : ` ${how}`}`);
    if (how?.startsWith("dies") === true) {
      diedInGap = isInGap([...labels, ...(how === "dies after" ? [call.label] : [])]);
    }
    labels.push(call.label);
    step += 1;
    await execute(world, call, how);
    await turn();
  }
  return { world, labels, diedInGap };
}

async function execute(world: SimWorld, call: SimCall, how: Fault | undefined): Promise<void> {
  if (how === undefined) return call.succeed();
  if (how === "dies after" || how === "answer lost") await call.perform();
  if (how === "fails" || how === "answer lost") return call.fail();
  await call.process.kill();
  await world.start({ concurrency: 1 });
}

/** Between the ack and the next job, if one follows. */
function isInGap(labels: readonly string[]): boolean {
  return labels.includes("ack") && !labels.slice(labels.indexOf("ack")).includes("publish");
}

const CLEAN = [
  "working",
  "working",
  "read attempts",
  "write attempts",
  "look",
  "load",
  "model",
  "store",
  "look",
  "ack",
  "look",
];

test("J2 the port calls of a job, in order: it looks again before its ack, and once more behind it", async () => {
  const { world, labels } = await play({});
  expect(labels.filter((label) => label !== "working")).toEqual(CLEAN.slice(2));
  expect(world.session(KEY)).toMatchObject({ count: THRESHOLD, done: THRESHOLD });
});

test("J2, J3 whenever a commit makes more work due, it is done, also when its own job is refused", async () => {
  const refused: number[] = [];
  for (let commitAt = 0; commitAt < CLEAN.length; commitAt++) {
    const { world } = await play({ commitAt });
    expect(world.session(KEY), world.trace.join("\n")).toMatchObject({ count: 2 * THRESHOLD, done: 2 * THRESHOLD });
    if (world.trace.some((line) => line.endsWith("waiting"))) refused.push(commitAt);
  }
  // All before the ack; behind it the subject is free.
  expect(refused).toEqual(CLEAN.map((_, n) => n).slice(0, CLEAN.indexOf("ack") + 1));
});

/** With the next job behind it, and its confirmation. */
const LONGEST = CLEAN.length + 3;

const PLANS = FAULTS.flatMap((how) =>
  Array.from({ length: LONGEST }).flatMap((_, at) =>
    [undefined, ...CLEAN.keys()].map((commitAt) => ({ fault: { at, how }, commitAt })),
  ),
);

test(`J1–J5 ${PLANS.length} stories with a crash or a failure at each port call and a commit at each other`, async () => {
  let left = 0;
  for (const plan of PLANS) {
    const { world, diedInGap } = await play(plan.commitAt === undefined ? { fault: plan.fault } : plan);
    const session = world.session(KEY);
    const story = world.trace.join("\n");
    expect(world.jobs.dead, story).toEqual([]);
    if (session.isDue) {
      // The one place where work may be left: only a death there, never a failure.
      expect(diedInGap, story).toBe(true);
      expect(plan.fault.how, story).toMatch(/^dies/);
      left += 1;
      await heal(world);
    }
    expect(session.count - session.done, story).toBe(0);
  }
  console.log(`jobs: ${PLANS.length} stories, in ${left} of them the next commit had to say it again`);
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThan(PLANS.length / 50);
});

/** The session's next commit, which emits again because the work is still due. */
async function heal(world: SimWorld): Promise<void> {
  await world.commit(KEY, 1);
  for (let steps = 0; !world.isQuiet && steps < MOST_STEPS; steps++) {
    await turn();
    const call = world.calls.shift();
    if (call === undefined) world.clock.moveTo(world.clock.nextAt);
    else await call.succeed();
    await turn();
  }
}
