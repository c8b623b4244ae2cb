import {
  type ActorKind,
  type ConsumerSpec,
  Retention,
  SESSION_BELLS,
  SESSION_TIMER_BELLS,
  topology,
} from "@troupe/contracts";
import type { Bell } from "@troupe/kernel";
import { BellPull } from "./bell-pull.js";
import { type Bus, wireOf } from "./bus.js";
import { ensureConsumer } from "./provision-consumer.js";
import type { Wire } from "./wire.js";

export interface BellOptions {
  readonly actor: ActorKind;
  /** Bells delivered to `onBell` and neither answered nor handed over; never more than this. At least 2. */
  readonly maxInFlight: number;
  readonly onBell: (bell: Bell) => void;
  /** One line for the log: something is not as it should be, and is being mended. */
  readonly onTrouble: (line: string) => void;
}

/** The consumers that an actor's bells come from: on MAIL, and on TIMERS. */
const CONSUMERS: Readonly<Record<ActorKind, { readonly mail: string; readonly timers: string }>> = {
  session: { mail: SESSION_BELLS, timers: SESSION_TIMER_BELLS },
};

/** Timers get this part of the room, so that neither kind can use up the other's. */
const TIMERS_SHARE = 1 / 4;

/** Silence after which a pull counts as lost: three heartbeats. */
const SILENCE_MS = 3_000;
const WATCH_MS = 500;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Rings the doorbells of one kind of actor (K7). The consumers are shared by all processes; each pulls
 * only what it has room for. A consumer that is lost or goes silent is pulled from anew, and created
 * again when it is gone.
 */
export async function ringBells(bus: Bus, options: BellOptions): Promise<{ stop(): Promise<void> }> {
  const { maxInFlight, actor } = options;
  if (!(maxInFlight >= 2)) throw new RangeError("maxInFlight must be at least 2");
  const forTimers = Math.max(1, Math.floor(maxInFlight * TIMERS_SHARE));
  const source = (name: string, capacity: number): BellSource =>
    new BellSource(wireOf(bus), { ...options, maxInFlight: capacity, consumer: consumerOf(name) });
  const sources = [source(CONSUMERS[actor].mail, maxInFlight - forTimers), source(CONSUMERS[actor].timers, forTimers)];
  await Promise.all(sources.map((one) => one.open()));
  return {
    stop: async () => {
      await Promise.all(sources.map((one) => one.stop()));
    },
  };
}

interface SourceOptions extends BellOptions {
  readonly consumer: ConsumerSpec;
}

class BellSource {
  readonly #wire: Wire;
  readonly #options: SourceOptions;
  readonly #unwatch: () => void;
  readonly #watchdog: NodeJS.Timeout;
  #pull: BellPull | undefined;
  #inFlight = 0;
  #pauseMs = 0;
  #retry: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(wire: Wire, options: SourceOptions) {
    this.#wire = wire;
    this.#options = options;
    this.#unwatch = wire.watch((up) => (up ? void this.open() : this.#drop()));
    this.#watchdog = setInterval(() => this.#watch(), WATCH_MS).unref();
  }

  /** Makes sure of the consumer and pulls from it; on failure tries again later. */
  async open(): Promise<void> {
    this.#drop();
    const pull = new BellPull(this.#wire, this.#options.consumer, {
      room: () => this.#options.maxInFlight - this.#inFlight,
      capacity: this.#options.maxInFlight,
      onBell: (bell) => this.#ring(bell),
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

  /** Bells already handed out stay with their takers; what arrives from now on goes back. */
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

  #ring(bell: Bell): void {
    try {
      this.#options.onBell(bell);
    } catch (cause) {
      this.#options.onTrouble(`a doorbell of ${bell.key} was not taken: ${String(cause)}`);
      bell.nak(LONGEST_PAUSE_MS);
    }
  }

  #drop(): void {
    clearTimeout(this.#retry);
    const pull = this.#pull;
    this.#pull = undefined;
    void pull?.end();
  }

  #lost(pull: BellPull, reason: string): void {
    if (this.#stopped || this.#pull !== pull) return;
    this.#drop();
    // The stream may have been made anew, with numbers that count from 1 again.
    this.#wire.distrust();
    // Without a connection there is nothing to try; its return opens again.
    if (!this.#wire.up) return;
    this.#options.onTrouble(`doorbells (${this.#options.consumer.name}): ${reason}; pulling again`);
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

function consumerOf(name: string): ConsumerSpec {
  // Consumers do not depend on retention.
  const found = topology(Retention.parse(undefined)).consumers.find((spec) => spec.name === name);
  if (found === undefined) throw new TypeError(`the topology has no consumer ${name}`);
  return found;
}
