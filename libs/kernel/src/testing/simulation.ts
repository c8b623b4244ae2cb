import type { Host, HostBase } from "../host.js";
import type { Bell, MailItem, OwnerPort, Ports } from "../ports.js";
import { Breach, Invariants } from "./invariants.js";
import { MemoryBroker, type StoredMail } from "./memory-broker.js";
import { Random } from "./random.js";
import { type SimFields, type SimOutcome, type SimRun, simActor } from "./sim-actor.js";
import { SimProcess } from "./sim-process.js";
import { thirdWriter } from "./third-writer.js";

/**
 * A seeded simulation of the real kernel on in-memory ports. One scheduler decides the order of all
 * port calls of all processes and what becomes of each: it may be performed, its answer lost, it may
 * land late, and its process may die before or after it. Bells ring twice, reads are stale, owners
 * are paused until their lease is long gone, and a third writer changes the entry.
 *
 * The same seed gives the same schedule.
 */
type SimHost = Host<SimFields, string, SimRun, SimOutcome>;

export interface SimulationOptions {
  readonly seed: number;
  /** Mail that arrives, `<text>` or `ops:<text>`; see `simActor`. `k` lets the third writer write. */
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

export interface Operation {
  readonly process: SimProcess;
  readonly label: string;
  /** Whether it can land although its caller was told nothing. */
  readonly mayLandLate: boolean;
  readonly perform: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (cause: Error) => void;
}

interface Delivery {
  availableAt: number;
  count: number;
}

const KEY = "k";
const ACK_WAIT_MS = 5_000;
const MAX_STEPS = 6_000;
const OPTIONS = {
  leaseMs: 10_000,
  renewMs: 3_000,
  maxFold: 8,
  silenceMs: 2_000,
  busyDelayMs: 500,
  workingMs: 1_500,
  keep: 4,
};

export async function simulate(options: SimulationOptions): Promise<SimulationResult> {
  const simulation = new Simulation(options);
  return simulation.run();
}

export class Simulation {
  readonly random: Random;
  readonly broker = new MemoryBroker();
  readonly invariants = new Invariants(this.broker);
  readonly trace: string[] = [];
  now = 0;
  readonly #options: SimulationOptions;
  readonly #processes: SimProcess[] = [];
  readonly #deliveries = new Map<number, Delivery>();
  readonly #script: string[];
  #operations: Operation[] = [];
  #faults: number;
  #steps = 0;
  #breach: string | undefined;

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.random = new Random(options.seed);
    this.#faults = options.faults;
    this.#script = [...options.script];
    for (const name of ["a", "b"]) this.#processes.push(this.#start(name, 0));
  }

  #start(name: string, incarnation: number): SimProcess {
    const process = new SimProcess(`${name}${incarnation}`, name, incarnation, this);
    process.host = this.#options.createHost({
      actorOf: () => simActor,
      ports: this.#ports(process),
      processId: process.id,
      options: OPTIONS,
    });
    return process;
  }

  async run(): Promise<SimulationResult> {
    const { seed } = this.#options;
    try {
      while (!this.#isSettled() && this.#breach === undefined) {
        if (this.#steps++ > MAX_STEPS) throw new Breach("K7: it never settles");
        this.#step();
        await this.#options.drain();
      }
      if (this.#breach === undefined) this.invariants.settled([KEY]);
    } catch (cause) {
      if (!(cause instanceof Breach)) throw cause;
      this.#breach ??= cause.message;
    }
    for (const process of this.#processes) process.alive = false;
    return { seed, steps: this.#steps, breach: this.#breach, trace: this.trace };
  }

  #isSettled(): boolean {
    return (
      this.#script.length === 0 &&
      this.#operations.length === 0 &&
      this.broker.waitingMail().length === 0 &&
      this.broker.nextScheduleAt() === Infinity &&
      this.#processes.every((process) => process.host.size === 0 && !process.draining)
    );
  }

  #step(): void {
    const { random } = this;
    const ready = this.#operations.filter((x) => x.process.pausedUntil <= this.#steps);
    const ringing = this.broker
      .waitingMail()
      .filter((item) => (this.#deliveries.get(item.seq)?.availableAt ?? 0) <= this.now);
    const choices: [number, () => void][] = [];
    if (ready.length > 0) choices.push([6, () => this.#execute(random.pick(ready))]);
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

  #arrive(text: string): void {
    if (text.startsWith("k")) {
      const writer = new SimProcess(`third-${text}`, text, 0, this);
      void thirdWriter(writer, KEY);
      return;
    }
    const origin = text.startsWith("ops:") ? "ops" : "in";
    this.#put(this.broker.putMail(KEY, origin, text.replace("ops:", ""), this.now));
  }

  #put(item: StoredMail): void {
    this.trace.push(`mail ${item.seq} ${item.origin} ${item.text}`);
    this.invariants.arrived(item);
  }

  /** Rings a bell at some process, not necessarily the one that has it already. */
  #ring(item: StoredMail): void {
    const open = this.#processes.filter((process) => !process.draining);
    if (open.length === 0) return;
    const process = this.random.pick(open);
    const count = (this.#deliveries.get(item.seq)?.count ?? 0) + 1;
    this.#deliveries.set(item.seq, { availableAt: this.now + ACK_WAIT_MS, count });
    this.trace.push(`bell ${item.seq} -> ${process.id}`);
    process.host.ring(this.bell(process, item, count > 1));
  }

  bell(process: SimProcess, item: StoredMail, redelivered: boolean): Bell {
    const mine = (act: () => void) => () => {
      if (process.alive) act();
    };
    return {
      key: item.key,
      item,
      redelivered,
      ack: mine(() => void this.call(process, `ack ${item.seq}`, false, () => this.#ack(item)).catch(() => undefined)),
      nak: (delayMs) => mine(() => this.#delay(item, delayMs))(),
      working: mine(() => this.#delay(item, ACK_WAIT_MS)),
    };
  }

  #ack(item: StoredMail): void {
    if (!this.broker.waiting(item.seq)) return;
    this.invariants.acked(item);
    this.broker.settle(item.seq);
  }

  #delay(item: MailItem, ms: number): void {
    const delivery = this.#deliveries.get(item.seq);
    if (delivery) delivery.availableAt = this.now + ms;
  }

  /** One port call: it takes effect when the scheduler picks it. */
  call<T>(process: SimProcess, label: string, mayLandLate: boolean, perform: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (process.alive)
        this.#operations.push({
          process,
          label,
          mayLandLate,
          perform,
          resolve: (value) => resolve(value as T),
          reject,
        });
    });
  }

  cancel(matches: (operation: Operation) => boolean): void {
    this.#operations = this.#operations.filter((x) => !matches(x));
  }

  #execute(operation: Operation): void {
    this.cancel((x) => x === operation);
    const { process, label, mayLandLate, resolve, reject } = operation;
    const fault = this.#faults > 0 && this.random.chance(0.12) ? this.random.below(mayLandLate ? 5 : 4) : -1;
    if (fault >= 0) this.#faults -= 1;
    this.trace.push(
      `${process.id} ${label}${fault < 0 ? "" : ` ${["dies before", "dies after", "answer lost", "fails", "lands late"][fault]}`}`,
    );
    if (fault === 0) return this.#kill(process);
    if (fault === 3) return reject(new Error("failed"));
    if (fault === 4) {
      this.#operations.push({
        ...operation,
        process: new SimProcess("network", "network", 0, this),
        resolve: () => undefined,
        reject: () => undefined,
        mayLandLate: false,
      });
      return reject(new Error("timed out"));
    }
    const value = this.#perform(operation);
    if (fault === 1) return this.#kill(process);
    if (fault === 2) return reject(new Error("answer lost"));
    resolve(value);
  }

  #perform(operation: Operation): unknown {
    try {
      return operation.perform();
    } catch (cause) {
      if (cause instanceof Breach) this.#breach ??= cause.message;
      throw cause;
    }
  }

  #kill(process: SimProcess): void {
    if (process.name === "network") return;
    process.alive = false;
    this.cancel((x) => x.process === process);
    const at = this.#processes.indexOf(process);
    if (at >= 0) this.#processes[at] = this.#start(process.name, process.incarnation + 1);
    else void thirdWriter(new SimProcess(`${process.id}'`, process.name, process.incarnation + 1, this), KEY);
  }

  #disturb(): void {
    this.#faults -= 1;
    const waiting = this.broker.waitingMail();
    if (waiting.length > 0 && this.random.chance(0.5)) return this.#ring(this.random.pick(waiting));
    if (this.random.chance(0.2)) {
      this.trace.push("the duplicate window ends");
      return this.broker.forgetIds();
    }
    const process = this.random.pick(this.#processes);
    if (this.random.chance(0.3)) return this.#drain(process);
    this.trace.push(`${process.id} is paused`);
    process.pausedUntil = this.#steps + this.random.below(60);
    if (this.random.chance(0.5)) this.now += 11_000;
  }

  /** A rolling restart: the process takes no more bells and ends when it has handed over. */
  #drain(process: SimProcess): void {
    if (process.draining) return;
    this.trace.push(`${process.id} drains`);
    process.draining = true;
    void process.host.drain(this.random.below(2_000)).then(() => {
      if (process.alive) this.#kill(process);
    });
  }

  /** Time goes on to the next thing that waits for it. */
  #advance(): void {
    const alive = this.#processes.filter((process) => process.pausedUntil <= this.#steps);
    const deliveries = this.broker.waitingMail().map((item) => this.#deliveries.get(item.seq)?.availableAt ?? this.now);
    const next = Math.min(
      this.broker.nextScheduleAt(),
      ...deliveries,
      ...alive.map((process) => process.nextTimerAt()),
    );
    if (next === Infinity) return;
    this.now = Math.max(this.now, next);
    for (const effect of this.broker.takeDue(this.now))
      this.#put(this.broker.putMail(KEY, "self", effect.id, this.now));
    for (const process of alive) process.fireTimers(this.now);
  }

  isStale(): boolean {
    if (this.#faults <= 0 || !this.random.chance(0.1)) return false;
    this.#faults -= 1;
    return true;
  }

  #ports(process: SimProcess): Ports<SimFields, SimRun, SimOutcome> {
    return { ...process.brokerPorts(), owner: this.#ownerPort(process) };
  }

  #ownerPort(process: SimProcess): OwnerPort {
    return {
      offer: (owner, bell) =>
        this.call(process, `offer ${bell.item.seq} to ${owner}`, false, () => {
          const target = this.#processes.find((x) => owner.startsWith(`${x.id}-`));
          if (target === undefined || target.pausedUntil > this.#steps) return "silent";
          return target.host.take(owner, this.bell(target, { ...bell.item, key: bell.key }, bell.redelivered))
            ? "taken"
            : "declined";
        }),
    };
  }
}
