import { Activation } from "./activation.js";
import type { Known } from "./entry.js";
import { HeardMail } from "./heard-mail.js";
import type { HostBase } from "./options.js";
import type { Bell } from "./ports.js";
import type { Holder } from "./tenure.js";

/** How long a process that is to end may go on, in milliseconds. */
export interface DrainLimits {
  /** For work that ends by itself. */
  readonly graceMs: number;
  /** From then on, for handing over what has not. */
  readonly handOverMs: number;
}

/**
 * All activations of one process.
 *
 * K5 One activation per key and process; further doorbells join it. An owner's name is the process
 *    start's id and a running number, never used again.
 * K7 A doorbell of a key that lives elsewhere is offered to its owner.
 */
export class Host<F, M, R, O> {
  readonly #base: HostBase<F, M, R, O>;
  readonly #live = new Map<string, Activation<F, M, R, O>>();
  readonly #kept = new Map<string, Known<F, R>>();
  /** When an owner was first and last found silent, by owner and revision. */
  readonly #silent = new Map<string, { readonly firstAt: number; readonly lastAt: number }>();
  readonly #heard = new HeardMail();
  #serial = 0;
  #cancelWorking: () => void = () => undefined;
  #onEmpty: () => void = () => undefined;
  #isHandingOver = false;

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
    this.#heard.note(bell.key, bell.item);
    if (!this.#live.get(bell.key)?.join(bell)) this.#activate(bell);
  }

  /** Another process offers a bell to the owner it found in the state; whether it is taken. */
  take(owner: string, bell: Bell): boolean {
    return this.#live.get(bell.key)?.join(bell, owner) ?? false;
  }

  /**
   * Ends: work that is done within `graceMs` ends by itself, the rest is handed over at a commit. What cannot be
   * committed within `handOverMs` more is left to its lease, as if the process had died.
   * No bell may ring any more when this is called.
   *
   * @returns how many keys were left
   */
  async drain({ graceMs, handOverMs }: DrainLimits): Promise<number> {
    const { clock } = this.#base.ports;
    let cancel = () => undefined as void;
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
      if (this.#live.size === 0) return resolve();
      cancel = clock.after(graceMs, () => {
        this.#isHandingOver = true;
        for (const activation of this.#live.values()) activation.handOver();
        cancel = clock.after(handOverMs, resolve);
      });
    });
    cancel();
    this.#cancelWorking();
    return this.#live.size;
  }

  #activate(bell: Bell): void {
    const { key } = bell;
    const { actorOf, processId } = this.#base;
    const activation = new Activation<F, M, R, O>(
      {
        ...this.#base,
        key,
        owner: `${processId}-${++this.#serial}`,
        actor: actorOf(key),
        heard: this.#heard,
        isDead: (holder) => this.#isDead(holder),
        offer: (holder, other) => void this.#offer(holder, other),
      },
      this.#kept.get(key),
    );
    this.#kept.delete(key);
    this.#live.set(key, activation);
    activation.join(bell);
    if (this.#isHandingOver) activation.handOver();
    void activation.run().then((kept) => this.#ended(key, activation, kept));
  }

  #ended(key: string, activation: Activation<F, M, R, O>, kept: Known<F, R> | undefined): void {
    if (this.#live.get(key) === activation) this.#live.delete(key);
    if (kept && !this.#live.has(key)) this.#kept.set(key, kept);
    const oldest = this.#kept.keys().next();
    if (this.#kept.size > this.#base.options.keep && !oldest.done) this.#kept.delete(oldest.value);
    if (this.#live.size === 0) this.#onEmpty();
  }

  async #offer(holder: Holder, bell: Bell): Promise<void> {
    const { ports, options } = this.#base;
    const answer = await ports.owner.offer(holder.owner, bell).catch(() => "silent" as const);
    const now = ports.clock.monotonic();
    const { firstAt } = this.#silenceOf(holder) ?? { firstAt: now };
    if (answer === "silent") this.#silent.set(nameOf(holder), { firstAt, lastAt: now });
    else this.#silent.delete(nameOf(holder));
    if (answer !== "taken") bell.nak(options.busyDelayMs);
  }

  /** One that this process has left behind, for it has one activation of a key at a time; or one silent for long. */
  #isDead(holder: Holder): boolean {
    const { processId, ports, options } = this.#base;
    if (holder.owner.startsWith(`${processId}-`)) return true;
    const silence = this.#silenceOf(holder);
    if (silence === undefined || ports.clock.monotonic() - silence.firstAt < options.silenceMs) return false;
    // Offers made at the same time share one hitch of the network: only later ones confirm it.
    return silence.lastAt - silence.firstAt >= options.busyDelayMs;
  }

  /** Silence that nobody has confirmed for a while says nothing: an owner may have answered since, had it been asked. */
  #silenceOf(holder: Holder) {
    const { ports, options } = this.#base;
    const before = ports.clock.monotonic() - 2 * options.busyDelayMs - options.silenceMs;
    for (const [name, { lastAt }] of this.#silent) if (lastAt < before) this.#silent.delete(name);
    return this.#silent.get(nameOf(holder));
  }

  #keepWorking(): void {
    this.#cancelWorking = this.#base.ports.clock.after(this.#base.options.workingMs, () => {
      for (const activation of this.#live.values()) activation.stillWorking();
      this.#keepWorking();
    });
  }
}

const nameOf = ({ owner, revision }: Holder): string => `${owner}#${revision}`;
