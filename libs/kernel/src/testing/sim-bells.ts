import type { Bell, MailItem } from "../ports.js";
import { itemOf, type StoredMail } from "./memory-broker.js";
import type { SimProcess } from "./sim-process.js";
import type { Simulation } from "./simulation.js";

const ACK_WAIT_MS = 5_000;

interface Delivery {
  availableAt: number;
  count: number;
}

/** The consumer: which bells may ring, and what is said about those that have rung. */
export class SimBells {
  readonly #world: Simulation;
  readonly #deliveries = new Map<StoredMail, Delivery>();
  /** The mail of a bell, for one that is offered on. */
  readonly #mailOf = new WeakMap<Bell, StoredMail>();

  constructor(world: Simulation) {
    this.#world = world;
  }

  availableAt(item: StoredMail): number {
    return this.#deliveries.get(item)?.availableAt ?? 0;
  }

  /** Rings at this process, not necessarily the one that has the bell already. */
  ring(item: StoredMail, process: SimProcess): void {
    const count = (this.#deliveries.get(item)?.count ?? 0) + 1;
    this.#deliveries.set(item, { availableAt: this.#world.now + ACK_WAIT_MS, count });
    this.#world.trace.push(`bell ${item.seq} -> ${process.id}`);
    process.host.ring(this.#bell(process, item, count > 1));
  }

  /** The same bell in the hands of another process. */
  passOn(bell: Bell, to: SimProcess): Bell {
    const item = this.#mailOf.get(bell);
    if (item === undefined) throw new Error("a bell that never rang was offered");
    return this.#bell(to, item, bell.redelivered);
  }

  #bell(process: SimProcess, item: StoredMail, redelivered: boolean): Bell {
    const { network } = this.#world;
    const bell = {
      key: item.key,
      item: itemOf(item) satisfies MailItem,
      redelivered,
      ack: () => void network.call(process, `ack ${item.seq}`, false, () => this.#ack(item)).catch(() => undefined),
      nak: (delayMs: number) => this.#delay(process, item, delayMs),
      working: () => this.#delay(process, item, ACK_WAIT_MS),
    };
    this.#mailOf.set(bell, item);
    return bell;
  }

  #ack(item: StoredMail): void {
    if (!this.#world.broker.waitingMail().includes(item)) return;
    this.#world.invariants.acked(item);
    this.#world.broker.settle(item);
  }

  #delay(process: SimProcess, item: StoredMail, ms: number): void {
    const delivery = this.#deliveries.get(item);
    if (delivery && process.alive) delivery.availableAt = this.#world.now + ms;
  }
}
