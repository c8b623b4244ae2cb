import { Activation, type Ended, type Kept, type Options } from "./activation.js";
import type { Actor } from "./actor.js";
import type { Bell, Ports } from "./ports.js";

/**
 * All activations of one process.
 *
 * K5 One activation per key and process; further doorbells join it. An owner's name is the process
 *    start's id and a running number, never used again.
 * K7 A doorbell of a key that lives elsewhere is offered to its owner.
 */
export interface HostOptions extends Options {
  /** An owner that has not answered offers for this long is taken for dead before its lease ends. */
  readonly silenceMs: number;
  /** Pause before a bell that its owner did not take rings again. */
  readonly busyDelayMs: number;
  /** How often owners say that they still work; well under half of the consumer's ack wait. */
  readonly workingMs: number;
  /** Released entries kept in memory, so that the next activation need not read them. */
  readonly keep: number;
}

/**
 * Lease and renewal: a dead owner is noticed by its silence long before the lease ends, a paused
 * one after it; ten seconds spare a slow process the double work, three renew it in time.
 */
export const HOST_DEFAULTS: HostOptions = {
  leaseMs: 10_000,
  renewMs: 3_000,
  maxFold: 32,
  silenceMs: 2_000,
  busyDelayMs: 500,
  workingMs: 1_500,
  keep: 512,
};

export interface HostBase<F, M, R, O> {
  readonly actorOf: (key: string) => Actor<F, M, R, O>;
  readonly ports: Ports<F, R, O>;
  /** Id of this process start: never used before, one subject token. */
  readonly processId: string;
  readonly options: HostOptions;
}

export class Host<F, M, R, O> {
  readonly #base: HostBase<F, M, R, O>;
  readonly #live = new Map<string, Activation<F, M, R, O>>();
  readonly #kept = new Map<string, Kept<F, R>>();
  /** When an owner was first found silent, by owner and epoch. */
  readonly #silent = new Map<string, number>();
  #serial = 0;
  #cancelWorking: () => void = () => undefined;
  #onEmpty: (() => void)[] = [];
  #handOver = false;

  constructor(base: HostBase<F, M, R, O>) {
    this.#base = base;
    this.#keepWorking();
  }

  /** Keys that are active in this process now. */
  get size(): number {
    return this.#live.size;
  }

  /** A doorbell rang. */
  ring(bell: Bell): void {
    if (!this.#live.get(bell.key)?.join(bell)) this.#activate(bell.key, [bell]);
  }

  /** Another process offers a bell to the owner it found in the state; whether it is taken. */
  take(owner: string, bell: Bell): boolean {
    const activation = this.#live.get(bell.key);
    return activation !== undefined && activation.holdsLease(owner) && activation.join(bell);
  }

  /**
   * Ends: work that is done within `graceMs` ends by itself, the rest is handed over at a commit.
   * No bell may ring any more when this is called.
   */
  async drain(graceMs: number): Promise<void> {
    const cancel = this.#base.ports.clock.after(graceMs, () => {
      this.#handOver = true;
      for (const activation of this.#live.values()) activation.handOver();
    });
    while (this.#live.size > 0) await new Promise<void>((resolve) => this.#onEmpty.push(resolve));
    cancel();
    this.#cancelWorking();
  }

  #activate(key: string, bells: readonly Bell[]): void {
    const { actorOf, ports, options, processId } = this.#base;
    const owner = `${processId}-${++this.#serial}`;
    const isDead = (other: string, epoch: number) => this.#isDead(key, other, epoch);
    const activation = new Activation({ key, owner, actor: actorOf(key), ports, options, isDead }, this.#kept.get(key));
    this.#kept.delete(key);
    this.#live.set(key, activation);
    for (const bell of bells) activation.join(bell);
    if (this.#handOver) activation.handOver();
    void activation.run().then((ended) => this.#ended(key, activation, ended));
  }

  #ended(key: string, activation: Activation<F, M, R, O>, ended: Ended<F, R>): void {
    if (this.#live.get(key) === activation) this.#live.delete(key);
    switch (ended.kind) {
      case "done":
        this.#keep(key, ended.kept);
        break;
      case "again":
        if (ended.bells.length > 0) this.#activate(key, ended.bells);
        break;
      case "contended":
        for (const bell of ended.bells) void this.#offer(ended, bell);
        break;
      case "left":
        for (const bell of ended.bells) bell.nak(ended.delayMs);
        break;
    }
    if (this.#live.size === 0) for (const resolve of this.#onEmpty.splice(0)) resolve();
  }

  async #offer({ owner, epoch }: { owner: string; epoch: number }, bell: Bell): Promise<void> {
    const { ports, options } = this.#base;
    const answer = await ports.owner.offer(owner, bell).catch(() => "silent" as const);
    const name = `${owner}#${epoch}`;
    if (answer !== "silent") this.#silent.delete(name);
    else if (!this.#silent.has(name)) this.#silent.set(name, ports.clock.monotonic());
    if (answer !== "taken") bell.nak(options.busyDelayMs);
  }

  /** A lease of this process's own that no activation holds, or of an owner silent for long. */
  #isDead(key: string, owner: string, epoch: number): boolean {
    const { processId, ports, options } = this.#base;
    if (owner.startsWith(`${processId}-`)) return this.#live.get(key)?.holdsLease(owner) !== true;
    const since = this.#silent.get(`${owner}#${epoch}`);
    if (since === undefined || ports.clock.monotonic() - since < options.silenceMs) return false;
    this.#silent.delete(`${owner}#${epoch}`);
    return true;
  }

  #keep(key: string, kept: Kept<F, R>): void {
    if (this.#live.has(key)) return;
    this.#kept.set(key, kept);
    const oldest = this.#kept.keys().next();
    if (this.#kept.size > this.#base.options.keep && !oldest.done) this.#kept.delete(oldest.value);
  }

  #keepWorking(): void {
    this.#cancelWorking = this.#base.ports.clock.after(this.#base.options.workingMs, () => {
      for (const activation of this.#live.values()) activation.stillWorking();
      this.#keepWorking();
    });
  }
}
