import { type ConsumerSpec, Retention, topology } from "@troupe/contracts";
import { ConsumerPull, type Delivered, type PullOwner } from "./consumer-pull.js";
import { ensureConsumer } from "./provision-consumer.js";
import type { Wire } from "./wire.js";

export interface ConsumerSourceOptions<D extends Delivered> {
  readonly consumer: ConsumerSpec;
  /** Deliveries in flight, never more than this. */
  readonly capacity: number;
  readonly read: PullOwner<D>["read"];
  /** Must not throw. */
  readonly onDelivery: (delivery: D) => void;
  /** Half a line for the log: what is wrong, and that it is being mended. */
  readonly onTrouble: (reason: string) => void;
}

/** Silence after which a pull counts as lost: three heartbeats. */
const SILENCE_MS = 3_000;
const WATCH_MS = 500;
const LONGEST_PAUSE_MS = 5_000;

/**
 * What a durable consumer delivers to this process. The consumer is shared by all processes; each pulls only what it
 * has room for. One that is lost or goes silent is pulled from anew, and created again when it is gone.
 */
export class ConsumerSource<D extends Delivered> {
  readonly #wire: Wire;
  readonly #options: ConsumerSourceOptions<D>;
  readonly #unwatch: () => void;
  readonly #watchdog: NodeJS.Timeout;
  #pull: ConsumerPull<D> | undefined;
  #inFlight = 0;
  #pauseMs = 0;
  #retry: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(wire: Wire, options: ConsumerSourceOptions<D>) {
    this.#wire = wire;
    this.#options = options;
    this.#unwatch = wire.watch((up) => (up ? void this.open() : this.#drop()));
    this.#watchdog = setInterval(() => this.#watch(), WATCH_MS).unref();
  }

  /** Makes sure of the consumer and pulls from it; on failure tries again later. */
  async open(): Promise<void> {
    this.#drop();
    const pull = new ConsumerPull(this.#wire, this.#options.consumer, {
      room: () => this.#options.capacity - this.#inFlight,
      capacity: this.#options.capacity,
      read: this.#options.read,
      onDelivery: this.#options.onDelivery,
      onAlive: () => {
        this.#pauseMs = 0;
      },
      onTaken: () => {
        this.#pauseMs = 0;
        this.#inFlight += 1;
      },
      onDone: () => {
        this.#inFlight -= 1;
        this.#pull?.refill();
      },
      onLost: (reason) => this.#lost(pull, reason),
    });
    this.#pull = pull;
    try {
      await ensureConsumer(this.#wire, this.#options.consumer);
    } catch (cause) {
      this.#lost(pull, cause instanceof Error ? cause.message : String(cause));
      return;
    }
    if (this.#pull === pull) pull.refill();
  }

  /** What is handed out already stays with its takers; what arrives from now on goes back. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#unwatch();
    clearInterval(this.#watchdog);
    clearTimeout(this.#retry);
    const pull = this.#pull;
    this.#pull = undefined;
    await pull?.end();
  }

  #drop(): void {
    clearTimeout(this.#retry);
    const pull = this.#pull;
    this.#pull = undefined;
    void pull?.end();
  }

  #lost(pull: ConsumerPull<D>, reason: string): void {
    if (this.#stopped || this.#pull !== pull) return;
    this.#drop();
    // The stream may have been made anew, with numbers that count from 1 again.
    this.#wire.distrust();
    // Without a connection there is nothing to try; its return opens again.
    if (!this.#wire.up) return;
    this.#options.onTrouble(`${reason}; pulling again`);
    this.#retry = setTimeout(() => void this.open(), this.#pauseMs).unref();
    this.#pauseMs = Math.min(Math.max(100, this.#pauseMs * 2), LONGEST_PAUSE_MS);
  }

  #watch(): void {
    const pull = this.#pull;
    if (pull === undefined || !this.#wire.up || pull.silentMs() < SILENCE_MS) return;
    // After a blocked event loop the heartbeats lie in the socket: read them before judging.
    setImmediate(() => {
      if (this.#pull === pull && pull.silentMs() >= SILENCE_MS) this.#lost(pull, "the consumer went silent");
    });
  }
}

/** The declared consumer of this name. */
export function consumerOf(name: string): ConsumerSpec {
  // Consumers do not depend on retention.
  const found = topology(Retention.parse(undefined)).consumers.find((spec) => spec.name === name);
  if (found === undefined) throw new TypeError(`the topology has no consumer ${name}`);
  return found;
}
