import { createInbox, type Msg, nanos, type Subscription } from "@nats-io/transport-node";
import type { ConsumerSpec } from "@troupe/contracts";
import type { Wire } from "./wire.js";

/** One delivery of a message. */
export interface Delivered {
  nak(delayMs: number): void;
}

export interface PullOwner<D extends Delivered> {
  /** How many deliveries more may be in flight now. */
  room(): number;
  readonly capacity: number;
  /** The server says that it still serves us. */
  onAlive(): void;
  /** The delivery in a message; undefined when it is none. `onDone` when this process answers for it no longer. */
  read(message: Msg, onDone?: () => void): D | undefined;
  onTaken(): void;
  /** Must not throw: it is called from the client's reader. */
  onDelivery(delivery: D): void;
  onDone(): void;
  /** This pull will bring nothing more. */
  onLost(reason: string): void;
}

/**
 * How long a request stands. A process that is halted keeps its connection, and the server goes on serving its request:
 * each bell that is lost to it rings again only after the ack wait, and to it once more while the request stands.
 */
export const EXPIRES_MS = 2_000;
/** The server allows half of that at most. */
const HEARTBEAT_MS = 1_000;
/** For what came without being asked for; at once it would come straight back. */
const SURPLUS_DELAY_MS = 200;

const STATUS = { heartbeat: 100, notFound: 404, timeout: 408 } as const;

/**
 * Pulls from one consumer until it is lost or ended; a new one is made then, with a new inbox, so
 * that the server forgets the requests of the old one.
 *
 * Never more is asked for than there is room, and what comes nevertheless goes back at once.
 */
export class ConsumerPull<D extends Delivered> {
  readonly #wire: Wire;
  readonly #owner: PullOwner<D>;
  readonly #subject: string;
  readonly #inbox = createInbox();
  readonly #subscription: Subscription | undefined;
  /** Deliveries that the server may still send for requests under way. */
  #asked = 0;
  #heardAt = performance.now();
  #due = false;
  #ended = false;

  constructor(wire: Wire, { stream, name }: ConsumerSpec, owner: PullOwner<D>) {
    this.#wire = wire;
    this.#owner = owner;
    this.#subject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`;
    if (wire.nc.isClosed() || wire.nc.isDraining()) return;
    this.#subscription = wire.nc.subscribe(this.#inbox, {
      callback: (error, message) => {
        if (error) this.#lose(error.message);
        else this.#take(message);
      },
    });
  }

  /** Time without a word from the server while something is asked of it. */
  silentMs(): number {
    return this.#asked === 0 ? 0 : performance.now() - this.#heardAt;
  }

  /** Asks for as many as there is room for, soon: room often comes in bunches. */
  refill(): void {
    if (this.#due || this.#ended) return;
    this.#due = true;
    queueMicrotask(() => {
      this.#due = false;
      this.#ask();
    });
  }

  /** Stops taking; what is under way goes back to the queue. Resolves when nothing more can come. */
  async end(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#subscription !== undefined) await this.#wire.end(this.#subscription);
  }

  #ask(): void {
    if (this.#ended || !this.#wire.up) return;
    const batch = this.#owner.room() - this.#asked;
    // While requests are under way, small ones more are not worth their trip.
    if (batch <= 0 || (this.#asked > 0 && batch * 4 < this.#owner.capacity)) return;
    if (this.#asked === 0) this.#heardAt = performance.now();
    this.#asked += batch;
    const request = { batch, expires: nanos(EXPIRES_MS), idle_heartbeat: nanos(HEARTBEAT_MS) };
    this.#wire.tell(this.#subject, JSON.stringify(request), this.#inbox);
  }

  #take(message: Msg): void {
    this.#heardAt = performance.now();
    // A delivery keeps the subject it was published to; what comes to the inbox is about the pull.
    if (message.subject === this.#inbox) {
      this.#status(message);
      return;
    }
    const isSurplus = this.#ended || this.#owner.room() <= 0;
    const delivery = this.#owner.read(message, isSurplus ? undefined : () => this.#owner.onDone());
    if (delivery === undefined) return;
    this.#asked = Math.max(0, this.#asked - 1);
    if (isSurplus) {
      delivery.nak(this.#ended ? 0 : SURPLUS_DELAY_MS);
      return;
    }
    this.#owner.onTaken();
    this.#owner.onDelivery(delivery);
    this.refill();
  }

  #status(message: Msg): void {
    const code = message.headers?.code ?? 0;
    if (code === STATUS.heartbeat) {
      this.#owner.onAlive();
      return;
    }
    if (code !== STATUS.notFound && code !== STATUS.timeout) {
      this.#lose(message.headers?.description || "the consumer is missing");
      return;
    }
    const unused = Number(message.headers?.get("Nats-Pending-Messages") ?? "0");
    this.#asked = Math.max(0, this.#asked - unused);
    this.refill();
  }

  #lose(reason: string): void {
    if (!this.#ended) this.#owner.onLost(reason);
  }
}
