import { setTimeout as delay } from "node:timers/promises";
import { type ConsumerMessages, jetstream, type JsMsg } from "@nats-io/jetstream";
import { type Channel, deliveryConsumer, keyOfSubject, type SessionKey } from "@troupe/contracts";
import { type Bus, wireOf } from "./bus.js";
import { ensureConsumer, ONE_AT_A_TIME } from "./provision-consumer.js";
import type { Wire } from "./wire.js";

/** A reply waits to be delivered. As with mail, its content is read from the log: this only says that it is there. */
export interface OutboxBell {
  readonly key: SessionKey;
  readonly seq: number;
  /** It is delivered, or never will be. */
  ack(): void;
  /** It rings again after a time. */
  nak(delayMs: number): void;
  /** It is being worked on: to be called well within `DELIVERY_ACK_WAIT_MS`. */
  working(): void;
}

export interface OutboxQueueOptions {
  readonly channel: Channel;
  /** False: there are too many at once; the next one is taken a little later. Must not throw. */
  readonly onBell: (bell: OutboxBell) => boolean;
  /** Whether what was taken is still ours is no longer known; what is not acked rings again. */
  readonly onLost: () => void;
  /** One line for the log: something is not as it should be, and is being mended. */
  readonly onTrouble: (line: string) => void;
}

/** Takes a channel's replies, while no other process does; what is not acked comes again. */
export interface OutboxQueue {
  /** Rejects when it cannot begin now; afterwards it mends itself. */
  start(): Promise<void>;
  /** The sequence up to which every reply of the channel is delivered. */
  floor(): Promise<number>;
  /** Takes no more. */
  stop(): void;
  /** All that was taken is dealt with: another process may be served at once instead of seconds later. */
  release(): void;
}

/** Requests are renewed often, because a puller that has not asked for `failoverMs` is taken for gone. */
const PULL_EXPIRES_MS = 2_000;
const PULLED_AT_ONCE = 64;
/** Between two replies while there are too many: slow enough to spare the server, fast enough to go on pulling. */
const SURPLUS_PAUSE_MS = 200;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
const PIN_HEADER = "Nats-Pin-Id";

export function outboxQueue(bus: Bus, options: OutboxQueueOptions): OutboxQueue {
  return new OutboxPuller(wireOf(bus), options);
}

class OutboxPuller implements OutboxQueue {
  readonly #wire: Wire;
  readonly #options: OutboxQueueOptions;
  readonly #unwatch: () => void;
  #messages: ConsumerMessages | undefined;
  #opening = 0;
  #retry: NodeJS.Timeout | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #isServed = false;
  #stopped = false;

  constructor(wire: Wire, options: OutboxQueueOptions) {
    this.#wire = wire;
    this.#options = options;
    this.#unwatch = wire.watch((up) => (up ? void this.#reopen() : this.#lose()));
  }

  async start(): Promise<void> {
    try {
      await this.#open(++this.#opening);
    } catch (cause) {
      this.stop();
      throw cause;
    }
  }

  async floor(): Promise<number> {
    const { stream, name } = deliveryConsumer(this.#options.channel);
    const consumer = await jetstream(this.#wire.nc).consumers.get(stream, name);
    return (await consumer.info()).ack_floor.stream_seq;
  }

  stop(): void {
    this.#stopped = true;
    this.#unwatch();
    this.#close();
  }

  release(): void {
    const { stream, name } = deliveryConsumer(this.#options.channel);
    if (this.#isServed && this.#wire.up) {
      this.#wire.tell(`$JS.API.CONSUMER.UNPIN.${stream}.${name}`, JSON.stringify({ group: ONE_AT_A_TIME }));
    }
    this.#isServed = false;
  }

  async #open(turn: number): Promise<void> {
    const spec = deliveryConsumer(this.#options.channel);
    await ensureConsumer(this.#wire, spec);
    const consumer = await jetstream(this.#wire.nc, { checkAPI: false }).consumers.get(spec.stream, spec.name);
    const messages = await consumer.consume({
      group: ONE_AT_A_TIME,
      max_messages: PULLED_AT_ONCE,
      expires: PULL_EXPIRES_MS,
    });
    if (turn !== this.#opening || this.#stopped) {
      messages.stop();
      return;
    }
    this.#messages = messages;
    void this.#follow(messages);
    void this.#take(messages);
  }

  async #take(messages: ConsumerMessages): Promise<void> {
    try {
      for await (const message of messages) {
        if (this.#messages !== messages) return;
        if (!this.#ring(message)) await delay(SURPLUS_PAUSE_MS);
      }
    } catch (cause) {
      this.#lost(messages, cause instanceof Error ? cause.message : String(cause));
    }
  }

  #ring(message: JsMsg): boolean {
    const key = keyOfSubject(message.subject);
    if (message.headers?.has(PIN_HEADER)) this.#isServed = true;
    this.#pauseMs = FIRST_PAUSE_MS;
    if (key === undefined) {
      // Nobody reads such a subject: its author did not build it from the contracts.
      message.ack();
      return true;
    }
    return this.#options.onBell({
      key,
      seq: message.seq,
      ack: () => message.ack(),
      nak: (delayMs) => message.nak(delayMs),
      working: () => message.working(),
    });
  }

  /** The client pulls on by itself; a consumer that is lost or silent is opened anew. */
  async #follow(messages: ConsumerMessages): Promise<void> {
    for await (const { type } of messages.status()) {
      if (type === "consumer_unpinned" && this.#messages === messages) {
        this.#isServed = false;
        this.#options.onLost();
      }
      if (LOST.includes(type)) return this.#lost(messages, type);
    }
    this.#lost(messages, "the consumer ended");
  }

  #lost(messages: ConsumerMessages, reason: string): void {
    if (this.#messages !== messages) return;
    this.#lose();
    if (this.#stopped || !this.#wire.up) return;
    this.#options.onTrouble(`replies of ${this.#options.channel}: ${reason.replaceAll("_", " ")}; pulling again`);
    this.#again();
  }

  #lose(): void {
    this.#close();
    this.#isServed = false;
    this.#options.onLost();
  }

  #again(): void {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.#reopen(), this.#pauseMs).unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }

  async #reopen(): Promise<void> {
    if (this.#stopped) return;
    this.#close();
    const turn = ++this.#opening;
    try {
      await this.#open(turn);
    } catch (cause) {
      // A failure of an attempt that a later one has replaced says nothing about that one.
      if (turn !== this.#opening || this.#stopped || !this.#wire.up) return;
      const reason = cause instanceof Error ? cause.message : String(cause);
      this.#options.onTrouble(`replies of ${this.#options.channel}: ${reason}; trying again`);
      this.#again();
    }
  }

  #close(): void {
    clearTimeout(this.#retry);
    const messages = this.#messages;
    this.#messages = undefined;
    messages?.stop();
  }
}

const LOST: readonly string[] = [
  "heartbeats_missed",
  "consumer_not_found",
  "consumer_deleted",
  "stream_not_found",
  "no_responders",
];
