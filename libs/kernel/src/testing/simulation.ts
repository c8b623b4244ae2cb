import type { Host } from "../host.js";
import { HOST_DEFAULTS, type HostBase } from "../options.js";
import type { OwnerPort } from "../ports.js";
import { Breach, Invariants } from "./invariants.js";
import { MemoryBroker, type StoredMail } from "./memory-broker.js";
import { Random } from "./random.js";
import { type SimFields, type SimOutcome, type SimRun, simActor } from "./sim-actor.js";
import { SimBells } from "./sim-bells.js";
import { type Caller, SimNetwork } from "./sim-network.js";
import { SimProcess } from "./sim-process.js";
import { thirdWriter } from "./third-writer.js";

/**
 * A seeded simulation of the real kernel on in-memory ports. One scheduler decides the order of all
 * port calls of all processes and what becomes of each: it may be performed, its answer lost, it may
 * land late, and its process may die before or after it. Bells ring twice, reads are stale, owners
 * are paused until their lease is long gone, wall clocks differ and jump, the mail log is made anew,
 * and a third writer changes the entry.
 *
 * The same seed gives the same schedule.
 */
type SimHost = Host<SimFields, string, SimRun, SimOutcome>;

export interface SimulationOptions {
  readonly seed: number;
  /** Mail that arrives, `<text>`, `ops:<text>`, `j/<text>` for the second key; see `simActor`. `k`: the third writer. */
  readonly script: readonly string[];
  /** How many faults may happen in all; afterwards everything must settle. */
  readonly faults: number;
  readonly createHost: (base: HostBase<SimFields, string, SimRun, SimOutcome>) => SimHost;
  /** Lets all continuations run that are ready. */
  readonly drain: () => Promise<void>;
}

export interface SimulationResult {
  readonly seed: number;
  readonly steps: number;
  readonly breach: string | undefined;
  readonly trace: readonly string[];
}

const KEYS = ["k", "j"] as const;
const [KEY, SECOND_KEY] = KEYS;
const MOST_STEPS = 6_000;
const MOST_STEPS_PER_MAIL = 200;
const FURTHEST_CLOCK_MS = 30_000;
const OPTIONS = { ...HOST_DEFAULTS, maxFold: 8, keep: 4 };

export async function simulate(options: SimulationOptions): Promise<SimulationResult> {
  const simulation = new Simulation(options);
  return simulation.run();
}

export class Simulation {
  readonly random: Random;
  readonly broker = new MemoryBroker();
  readonly invariants = new Invariants(this.broker);
  readonly network: SimNetwork;
  readonly trace: string[] = [];
  now = 0;
  readonly #options: SimulationOptions;
  readonly #bells = new SimBells(this);
  readonly #processes: SimProcess[] = [];
  readonly #script: string[];
  #faults: number;
  #steps = 0;

  constructor(options: SimulationOptions) {
    const { trace } = this;
    this.#options = options;
    this.random = new Random(options.seed);
    this.#faults = options.faults;
    this.#script = [...options.script];
    const takeFault = () => this.#takeFault();
    this.network = new SimNetwork({ random: this.random, trace, takeFault, kill: (caller) => this.#kill(caller) });
    for (const name of ["a", "b"]) this.#processes.push(this.#start(name, 0));
  }

  #start(name: string, incarnation: number): SimProcess {
    const process = new SimProcess(name, incarnation, this);
    const actor = simActor(() => this.#kill(process));
    process.host = this.#options.createHost({
      actorOf: () => actor,
      ports: { ...process.brokerPorts(), owner: this.#ownerPort(process) },
      processId: process.id,
      options: OPTIONS,
    });
    return process;
  }

  async run(): Promise<SimulationResult> {
    const { seed, script, faults } = this.#options;
    const mostSteps = MOST_STEPS + MOST_STEPS_PER_MAIL * script.length;
    let breach: string | undefined;
    try {
      while (!this.#isSettled() && this.network.breach === undefined) {
        if (this.#steps++ > mostSteps) throw new Breach("K7: it never settles");
        this.#step();
        await this.#options.drain();
      }
      if (this.network.breach === undefined) this.invariants.settled(KEYS, faults);
    } catch (cause) {
      if (!(cause instanceof Breach)) throw cause;
      breach = cause.message;
    }
    for (const process of this.#processes) process.alive = false;
    return { seed, steps: this.#steps, breach: this.network.breach ?? breach, trace: this.trace };
  }

  #isSettled(): boolean {
    return (
      this.#script.length === 0 &&
      this.network.size === 0 &&
      this.broker.waitingMail().length === 0 &&
      this.broker.nextScheduleAt() === Infinity &&
      this.#processes.every((process) => process.host.size === 0 && !process.draining)
    );
  }

  #step(): void {
    const { random } = this;
    const ready = this.network.ready(this.#steps);
    const ringing = this.broker.waitingMail().filter((item) => this.#bells.availableAt(item) <= this.now);
    const choices: [number, () => void][] = [];
    if (ready.length > 0) choices.push([6, () => this.network.execute(random.pick(ready))]);
    if (ringing.length > 0) choices.push([3, () => this.#ring(random.pick(ringing))]);
    if (this.#script.length > 0) choices.push([1, () => this.#arrive(this.#script.shift() ?? "")]);
    if (this.#faults > 0) choices.push([0.6, () => this.#disturb()]);
    choices.push([choices.length === 0 ? 1 : 0.15, () => this.#advance()]);
    let roll = random.next() * choices.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, act] of choices) {
      roll -= weight;
      if (roll <= 0) return act();
    }
  }

  #arrive(line: string): void {
    const key = line.startsWith("j/") ? SECOND_KEY : KEY;
    const text = line.replace("j/", "");
    if (text.startsWith("k")) return void thirdWriter(new SimProcess(text, 0, this), key);
    const origin = text.startsWith("ops:") ? "ops" : "in";
    this.#put(this.broker.putMail(key, origin, text.replace("ops:", ""), this.now));
  }

  #put(item: StoredMail): void {
    this.trace.push(`mail ${item.seq} ${item.origin} ${item.text} for ${item.key}`);
    this.invariants.arrived(item);
  }

  #ring(item: StoredMail): void {
    const open = this.#processes.filter((process) => !process.draining);
    if (open.length > 0) this.#bells.ring(item, this.random.pick(open));
  }

  #kill(caller: Caller): void {
    if (!(caller instanceof SimProcess) || !caller.alive) return;
    caller.alive = false;
    this.trace.push(`${caller.id} is dead`);
    this.network.cancel((x) => x.caller === caller);
    const at = this.#processes.indexOf(caller);
    if (at >= 0) this.#processes[at] = this.#start(caller.name, caller.incarnation + 1);
    else void thirdWriter(new SimProcess(caller.name, caller.incarnation + 1, this), KEY);
  }

  #disturb(): void {
    this.#faults -= 1;
    const { random } = this;
    const waiting = this.broker.waitingMail();
    if (waiting.length > 0 && random.chance(0.45)) return this.#ring(random.pick(waiting));
    if (random.chance(0.15)) return this.#endDuplicateWindow();
    if (random.chance(0.1)) return this.#recreateLog();
    const process = random.pick(this.#processes);
    if (random.chance(0.3)) return this.#drain(process);
    if (random.chance(0.3)) return this.#jumpClock(process);
    this.trace.push(`${process.id} is paused`);
    process.pausedUntil = this.#steps + random.below(60);
    if (random.chance(0.5)) this.now += 11_000;
  }

  #endDuplicateWindow(): void {
    this.trace.push("the duplicate window ends");
    this.broker.forgetIds();
  }

  /**
   * K1: what waited in the log is lost, and every bell that kept something going; what comes next wakes it.
   * Not when somebody waits for a cancel, for that may be lost as well.
   */
  #recreateLog(): void {
    if (this.#options.script.some((line) => line.includes("h"))) return;
    this.trace.push("the log is made anew");
    this.invariants.lost(this.broker.waitingMail());
    this.broker.recreateLog();
    this.#script.push(`d${this.broker.log}`, `j/d${this.broker.log}`);
  }

  #jumpClock(process: SimProcess): void {
    process.clockOffset = this.random.below(2 * FURTHEST_CLOCK_MS) - FURTHEST_CLOCK_MS;
    this.trace.push(`the clock of ${process.id} jumps to ${process.clockOffset} ms off`);
  }

  /** A rolling restart: the process takes no more bells and ends when it has handed over. */
  #drain(process: SimProcess): void {
    if (process.draining) return;
    this.trace.push(`${process.id} drains`);
    process.draining = true;
    void process.host.drain({ graceMs: this.random.below(2_000), handOverMs: 20_000 }).then(() => this.#kill(process));
  }

  /** Time goes on to the next thing that waits for it. */
  #advance(): void {
    const alive = this.#processes.filter((process) => process.pausedUntil <= this.#steps);
    const later = (at: number) => at > this.now;
    const rings = this.broker
      .waitingMail()
      .map((item) => this.#bells.availableAt(item))
      .filter(later);
    const next = Math.min(this.broker.nextScheduleAt(), ...rings, ...alive.map((process) => process.nextTimerAt()));
    if (next === Infinity) return;
    this.now = Math.max(this.now, next);
    for (const { id } of this.broker.takeDue(this.now))
      this.#put(this.broker.putMail(id.split(":")[0] ?? KEY, "self", id, this.now));
    for (const process of alive) process.fireTimers(this.now);
  }

  /** Whether an answer that may be old is. */
  isStale(): boolean {
    return this.random.chance(0.1) && this.#takeFault();
  }

  #takeFault(): boolean {
    if (this.#faults <= 0) return false;
    this.#faults -= 1;
    return true;
  }

  #ownerPort(process: SimProcess): OwnerPort {
    return {
      offer: (owner, bell) =>
        this.network.call(process, `offer ${bell.item.seq} to ${owner}`, false, () => {
          const target = this.#processes.find((x) => owner.startsWith(`${x.id}-`));
          if (target === undefined || target.pausedUntil > this.#steps) return "silent";
          if (this.random.chance(0.1) && this.#takeFault()) return "silent";
          return target.host.take(owner, this.#bells.passOn(bell, target)) ? "taken" : "declined";
        }),
    };
  }
}
