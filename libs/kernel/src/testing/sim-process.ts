import type { Host } from "../host.js";
import type { Clock, Ports, RunContext } from "../ports.js";
import type { SimFields, SimOutcome, SimRun } from "./sim-actor.js";
import type { Simulation } from "./simulation.js";

/** One process start of the simulation: its host, its timers, and its ports on the shared broker. */
export class SimProcess {
  alive = true;
  draining = false;
  /** Step until which nothing of it goes on: a zombie that does not know. */
  pausedUntil = 0;
  host!: Host<SimFields, string, SimRun, SimOutcome>;
  /** How far its wall clock is off: no two need agree. */
  clockOffset: number;
  readonly id: string;
  readonly name: string;
  readonly incarnation: number;
  readonly #world: Simulation;
  #timers: { readonly at: number; readonly callback: () => void }[] = [];

  constructor(name: string, incarnation: number, world: Simulation) {
    this.id = `${name}.${incarnation}`;
    this.clockOffset = world.random.chance(0.5) ? 0 : world.random.below(4_000) - 2_000;
    this.name = name;
    this.incarnation = incarnation;
    this.#world = world;
  }

  nextTimerAt(): number {
    return Math.min(Infinity, ...this.#timers.map((timer) => timer.at));
  }

  fireTimers(now: number): void {
    const due = this.#timers.filter((timer) => timer.at <= now);
    this.#timers = this.#timers.filter((timer) => timer.at > now);
    for (const timer of due) if (this.alive) timer.callback();
  }

  #clock(): Clock {
    return {
      now: () => this.#world.now + this.clockOffset,
      monotonic: () => this.#world.now,
      after: (ms, callback) => {
        const timer = { at: this.#world.now + ms, callback };
        this.#timers.push(timer);
        return () => {
          this.#timers = this.#timers.filter((x) => x !== timer);
        };
      },
    };
  }

  brokerPorts(): Omit<Ports<SimFields, SimRun, SimOutcome>, "owner"> {
    const world = this.#world;
    const { broker, invariants } = world;
    return {
      clock: this.#clock(),
      observe: () => undefined,
      state: {
        read: (key, from) =>
          world.network.call(this, `read ${from}`, false, () =>
            broker.read(key, from === "any" && world.isStale() ? 1 : 0),
          ),
        write: (key, text, revision) =>
          world.network.call(this, `write on ${revision}`, true, () => {
            const before = broker.read(key)?.text;
            const outcome = broker.write(key, text, revision);
            if (outcome.kind === "stored") invariants.landed(before, text);
            return outcome;
          }),
      },
      mail: {
        identity: () => Promise.resolve(broker.log),
        read: (key, origin, from, limit) =>
          world.network.call(this, `mail ${origin} from ${from}`, false, () => {
            const upTo = world.isStale() ? world.random.below(broker.lastSeq + 1) : Infinity;
            return broker.readMail(key, origin, { from, limit, upTo });
          }),
        waiting: (seq) => world.network.call(this, `waiting ${seq}`, false, () => broker.waiting(seq)),
      },
      segments: {
        create: (name, text) =>
          world.network.call(this, `segment ${name}`, true, () => void broker.segments.set(name, text)),
      },
      blobs: {
        create: (name, text) =>
          world.network.call(this, name, true, () => {
            broker.blobs.set(name, text);
            return { kind: "stored" } as const;
          }),
      },
      publish: {
        publish: (effect) =>
          world.network.call(this, `publish ${effect.id} ${effect.subject}`, true, () => {
            const outcome = broker.publish(effect);
            invariants.published(effect);
            return outcome;
          }),
      },
      runs: { start: (run, context) => this.#startRun(run, context) },
    };
  }

  #startRun(run: SimRun, { runId, epoch }: RunContext<SimFields>) {
    const world = this.#world;
    world.trace.push(`${this.id} starts ${runId} ${run.mail}`);
    const label = `run ${runId}`;
    world.network.watch(() => world.invariants.runStarted(runId));
    return {
      // A run of `h` goes on until it is aborted.
      outcome: run.mail.startsWith("h")
        ? new Promise<SimOutcome>(() => undefined)
        : world.network.call(this, label, false, () => ({ mail: run.mail, epoch })),
      abort: () => world.network.cancel((x) => x.caller === this && x.label === label),
    };
  }
}
