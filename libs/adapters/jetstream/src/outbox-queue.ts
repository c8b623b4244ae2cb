import { type ConsumerMessages, jetstream, type JsMsg } from "@nats-io/jetstream";
import { type Channel, deliveryConsumer, keyOfSubject, type SessionKey } from "@troupe/contracts";
import { type Bus, wireOf } from "./bus.js";
import { callOut } from "./call-out.js";
import { ensureConsumer, ONE_AT_A_TIME } from "./provision-consumer.js";
import type { Wire } from "./wire.js";

/** A reply waits to be delivered. As with mail, its content is read from the log: this only says that it is there. */
export interface OutboxBell {
  readonly key: SessionKey;
  readonly seq: number;
  /** It is delivered, or never will be. */
  ack(): void;
  /** It is being worked on: to be called well within `DELIVERY_ACK_WAIT_MS`. */
  working(): void;
}

export interface OutboxQueueOptions {
  readonly channel: Channel;
  /** Must not throw. */
  readonly onBell: (bell: OutboxBell) => void;
  /** One line for the log: something is not as it should be, and is being mended. */
  readonly onTrouble: (line: string) => void;
}

export interface OutboxQueue {
  /** The sequence up to which every reply of the channel is delivered. */
  floor(): Promise<number>;
  /** Takes no more; another process of the channel is served within seconds. */
  stop(): Promise<void>;
}

/** Requests are renewed often, because a puller that has not asked for `failoverMs` is taken for gone. */
const PULL_EXPIRES_MS = 2_000;
const PULLED_AT_ONCE = 64;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** Takes a channel's replies, while no other process does; what is not acked comes again. */
export async function outboxQueue(bus: Bus, options: OutboxQueueOptions): Promise<OutboxQueue> {
  const puller = new OutboxPuller(wireOf(bus), options);
  await puller.open();
  return puller;
}

class OutboxPuller implements OutboxQueue {
  readonly #wire: Wire;
  readonly #options: OutboxQueueOptions;
  readonly #unwatch: () => void;
  #messages: ConsumerMessages | undefined;
  #opening = 0;
  #retry: NodeJS.Timeout | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #stopped = false;

  constructor(wire: Wire, options: OutboxQueueOptions) {
    this.#wire = wire;
    this.#options = options;
    this.#unwatch = wire.watch((up) => (up ? void this.#reopen() : this.#close()));
  }

  async floor(): Promise<number> {
    const { stream, name } = deliveryConsumer(this.#options.channel);
    const consumer = await jetstream(this.#wire.nc).consumers.get(stream, name);
    return (await consumer.info()).ack_floor.stream_seq;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unwatch();
    clearTimeout(this.#retry);
    this.#close();
  }

  async open(): Promise<void> {
    const turn = ++this.#opening;
    const spec = deliveryConsumer(this.#options.channel);
    await ensureConsumer(this.#wire, spec);
    const consumer = await jetstream(this.#wire.nc, { checkAPI: false }).consumers.get(spec.stream, spec.name);
    const messages = await consumer.consume({
      group: ONE_AT_A_TIME,
      max_messages: PULLED_AT_ONCE,
      expires: PULL_EXPIRES_MS,
      callback: (message) => this.#take(message),
    });
    if (turn !== this.#opening || this.#stopped) {
      messages.stop();
      return;
    }
    this.#messages = messages;
    void this.#follow(messages);
  }

  #take(message: JsMsg): void {
    const key = keyOfSubject(message.subject);
    // Nobody reads such a subject: its author did not build it from the contracts.
    if (key === undefined) return message.ack();
    this.#pauseMs = FIRST_PAUSE_MS;
    callOut(() =>
      this.#options.onBell({
        key,
        seq: message.seq,
        ack: () => message.ack(),
        working: () => message.working(),
      }),
    );
  }

  /** The client pulls on by itself; a consumer that is lost or silent is opened anew. */
  async #follow(messages: ConsumerMessages): Promise<void> {
    for await (const status of messages.status()) {
      if (LOST.includes(status.type)) return this.#lost(messages, status.type);
    }
    this.#lost(messages, "the consumer ended");
  }

  #lost(messages: ConsumerMessages, reason: string): void {
    if (this.#messages !== messages) return;
    this.#close();
    if (this.#stopped || !this.#wire.up) return;
    this.#options.onTrouble(`replies of ${this.#options.channel}: ${reason.replaceAll("_", " ")}; pulling again`);
    this.#again();
  }

  #again(): void {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.#reopen(), this.#pauseMs).unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }

  async #reopen(): Promise<void> {
    if (this.#stopped) return;
    this.#close();
    try {
      await this.open();
    } catch (cause) {
      if (this.#stopped || !this.#wire.up) return;
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
