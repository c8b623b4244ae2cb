import type { SessionKey } from "@troupe/contracts";
import { Random } from "@troupe/kernel/testing";
import { expect, test } from "vitest";
import { JOB_DEFAULTS, type JobEvent } from "../src/index.js";
import { type SimCall, type SimProcess, SimWorld, THRESHOLD } from "./sim-world.js";

/** `SIM_SEED=<n> SIM_SCHEDULES=1` replays one schedule with its trace. */
const SCHEDULES = Number(process.env["SIM_SCHEDULES"] ?? 400);
const FIRST_SEED = Number(process.env["SIM_SEED"] ?? 1);
const MOST_STEPS = 4_000;
const KEYS = ["http.a", "http.b", "cli.c"] as SessionKey[];
const PROCESSES = 3;
/** One job each, so that they get in each other's way. */
const RULES = { concurrency: 1 };

/** Commits, deaths, halts and failures at random; then no more of them, until all is quiet. */
class Schedule {
  readonly world = new SimWorld();
  /** Subjects of which a job was taken off the queue by a process that then died. */
  readonly inGap = new Set<string>();
  readonly #random: Random;
  #faults: number;
  #commits: number;
  #steps = 0;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#faults = this.#random.below(10);
    this.#commits = 3 + this.#random.below(10);
    // A key whose work never succeeds.
    if (this.#random.chance(0.2)) this.world.session(this.#random.pick(KEYS)).isPoison = true;
  }

  async run(): Promise<void> {
    for (let n = 0; n < PROCESSES; n++) await this.world.start(RULES);
    while (this.#commits > 0 || this.#faults > 0) await this.#step();
    await this.settle();
  }

  async settle(): Promise<void> {
    this.#faults = 0;
    for (const process of this.#living()) if (process.isPaused) process.resume();
    while (!this.world.isQuiet) await this.#step();
  }

  async #step(): Promise<void> {
    this.#steps += 1;
    if (this.#steps > MOST_STEPS) throw new Error(`it never ends\n${this.world.trace.slice(-60).join("\n")}`);
    await new Promise((resolve) => setImmediate(resolve));
    const ready = this.world.calls.filter((call) => !call.process.isPaused);
    if (this.#commits > 0 && this.#random.chance(0.15)) return this.#commit();
    if (this.#faults > 0 && this.#random.chance(0.04)) return this.#strike();
    if (ready.length === 0 || this.#random.chance(0.03)) return this.#passTime();
    const call = this.#random.pick(ready);
    this.world.calls = this.world.calls.filter((other) => other !== call);
    await this.#execute(call);
  }

  async #commit(): Promise<void> {
    this.#commits -= 1;
    await this.world.commit(this.#random.pick(KEYS), 1 + this.#random.below(4), this.#random.chance(0.1));
  }

  /** A process dies and another one starts, or one stands still until time has passed. */
  async #strike(): Promise<void> {
    this.#faults -= 1;
    const victim = this.#random.pick(this.#living());
    if (victim.isPaused) return victim.resume();
    if (this.#random.chance(0.5)) return this.#kill(victim);
    this.world.trace.push(`${victim.name} is paused`);
    victim.isPaused = true;
  }

  async #kill(victim: SimProcess): Promise<void> {
    this.world.trace.push(`${victim.name} dies`);
    for (const key of victim.settling) this.inGap.add(key);
    // What it had sent may still arrive.
    for (const call of this.world.calls) if (call.process === victim && this.#random.chance(0.3)) await call.perform();
    for (const key of victim.settling) this.inGap.add(key);
    await victim.kill();
    await this.world.start(RULES);
  }

  #passTime(): void {
    const { clock } = this.world;
    if (!Number.isFinite(clock.nextAt)) {
      // Only the end of a halt is left to wait for.
      for (const process of this.#living()) if (process.isPaused) process.resume();
      this.#faults = Math.max(0, this.#faults - 1);
      return;
    }
    clock.moveTo(clock.nextAt);
    for (const process of this.#living()) if (process.isPaused && this.#random.chance(0.2)) process.resume();
  }

  async #execute(call: SimCall): Promise<void> {
    const isFaulty = this.#faults > 0 && this.#random.chance(0.06);
    if (isFaulty) this.#faults -= 1;
    const how = isFaulty ? this.#random.pick(["fails", "answer lost"] as const) : undefined;
    this.world.trace.push(`${call.process.name} ${call.label} ${call.key}${how === undefined ? "" : ` ${how}`}`);
    if (how === undefined) return call.succeed();
    if (how === "answer lost") await call.perform();
    return call.fail();
  }

  #living(): SimProcess[] {
    return this.world.processes.filter((one) => one.isAlive);
  }
}

function expectDone(schedule: Schedule, story: string): number {
  const { world, inGap } = schedule;
  let left = 0;
  for (const [key, session] of world.sessions) {
    if (!session.isDue) continue;
    const isDead = world.jobs.dead.some(({ subject }) => subject.endsWith(key));
    const subject = `job.consolidation.${key}`;
    // Or by one that has tried in vain to go on.
    const isInGap = inGap.has(subject) || world.processes.some((process) => process.settling.has(subject));
    const isKnown = isDead || isInGap;
    expect(isKnown, `${key} is due and nobody knows\n${story}`).toBe(true);
    if (!isDead) left += 1;
  }
  return left;
}

/** J4: as many failures in a row as it takes, none of them a job given back. */
function expectDeadForAReason(events: readonly JobEvent[], story: string): void {
  for (const event of events) {
    if (event.kind !== "failed") continue;
    expect(event.failures, story).toBeLessThanOrEqual(JOB_DEFAULTS.maxAttempts);
  }
}

test(`J1–J8 ${SCHEDULES} schedules from seed ${FIRST_SEED}: nothing due is left once commits stop`, async () => {
  let [left, dead, steps] = [0, 0, 0];
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SCHEDULES; seed++) {
    const schedule = new Schedule(seed);
    await schedule.run();
    const { world } = schedule;
    const story = `seed ${seed}\n${world.trace.join("\n")}`;
    if (SCHEDULES === 1) console.log(story);
    left += expectDone(schedule, story);
    expectDeadForAReason(world.events, story);
    expect(world.jobs.dead.length, story).toBe(new Set(world.jobs.dead.map(({ id }) => id)).size);
    dead += world.jobs.dead.length;
    steps += world.trace.length;
    // One further commit of each heals what a death in the gap has left.
    for (const session of world.sessions.values()) session.isPoison = false;
    for (const key of KEYS) await world.commit(key, 1);
    await schedule.settle();
    for (const session of world.sessions.values()) expect(session.count - session.done, story).toBeLessThan(THRESHOLD);
  }
  console.log(`jobs: ${SCHEDULES} schedules, ${steps} steps, ${dead} dead letters, ${left} left to the next commit`);
});
