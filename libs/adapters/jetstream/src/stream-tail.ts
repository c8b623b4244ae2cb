import { AckPolicy, type ConsumerConfig, DeliverPolicy, jetstreamManager, ReplayPolicy } from "@nats-io/jetstream";
import { createInbox, type Msg, nanos, nuid, type Subscription } from "@nats-io/transport-node";
import { ackInfo } from "./delivered-bell.js";
import { textOf, type Wire } from "./wire.js";

export interface TailMessage {
  readonly seq: number;
  readonly subject: string;
  readonly text: string;
}

export interface TailOptions {
  readonly stream: string;
  readonly filter: string;
  /** Everything behind this sequence; `last`: first the newest message of each subject, then what comes. */
  readonly after: number | "last";
  /** Must not throw: it is called from the client's reader. */
  readonly onMessage: (message: TailMessage) => void;
}

const HEARTBEAT_MS = 1_000;
const SILENCE_MS = 3_000;
const WATCH_MS = 500;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
const STATUS_CONTROL = 100;

/**
 * Follows a stream through a consumer of its own that needs no acks.
 *
 * T1 In order, each message once: a delivery that is not the next one of the consumer is not used.
 * T2 Nothing is left out: after a gap, silence or a lost connection a new consumer begins behind
 *    the last message that was passed on.
 */
export class StreamTail {
  readonly #wire: Wire;
  readonly #options: TailOptions;
  readonly #unwatch: () => void;
  readonly #watchdog: NodeJS.Timeout;
  #after: number | "last";
  #consumer: { readonly name: string; readonly subscription: Subscription; delivered: number } | undefined;
  #heardAt = 0;
  #opening = 0;
  #retry: NodeJS.Timeout | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #stopped = false;

  constructor(wire: Wire, options: TailOptions) {
    this.#wire = wire;
    this.#options = options;
    this.#after = options.after;
    this.#unwatch = wire.watch((up) => (up ? void this.#reopen() : this.#close()));
    this.#watchdog = setInterval(() => this.#watch(), WATCH_MS).unref();
  }

  /** Rejects when the consumer cannot be created now; afterwards the tail mends itself. */
  async start(): Promise<void> {
    try {
      await this.#open(++this.#opening);
    } catch (cause) {
      await this.stop();
      throw cause;
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unwatch();
    clearInterval(this.#watchdog);
    clearTimeout(this.#retry);
    this.#close();
  }

  async #open(turn: number): Promise<void> {
    const name = `tail-${nuid.next()}`;
    const inbox = createInbox();
    const subscription = this.#wire.nc.subscribe(inbox, {
      callback: (error, message) => {
        if (this.#consumer?.name !== name) return;
        if (error) this.#mend();
        else this.#take(message, inbox);
      },
    });
    this.#consumer = { name, subscription, delivered: 0 };
    this.#heardAt = performance.now();
    const jsm = await jetstreamManager(this.#wire.nc, { checkAPI: false });
    await jsm.consumers.add(this.#options.stream, this.#config(name, inbox));
    // Another one was opened or all was stopped while this one was being made.
    if (turn !== this.#opening || this.#stopped) this.#remove(name);
  }

  #config(name: string, inbox: string): Partial<ConsumerConfig> {
    const start: Partial<ConsumerConfig> =
      this.#after === "last"
        ? { deliver_policy: DeliverPolicy.LastPerSubject }
        : { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: this.#after + 1 };
    return {
      ...start,
      name,
      deliver_subject: inbox,
      // Named in the create request's subject too, so that permissions can hold a gateway to its channel.
      filter_subject: this.#options.filter,
      ack_policy: AckPolicy.None,
      replay_policy: ReplayPolicy.Instant,
      max_deliver: 1,
      flow_control: true,
      idle_heartbeat: nanos(HEARTBEAT_MS),
      mem_storage: true,
      num_replicas: 1,
    };
  }

  #take(message: Msg, inbox: string): void {
    this.#heardAt = performance.now();
    this.#pauseMs = FIRST_PAUSE_MS;
    const consumer = this.#consumer;
    if (consumer === undefined) return;
    if (message.subject === inbox) {
      this.#control(message, consumer.delivered);
      return;
    }
    const info = ackInfo(message.reply ?? "");
    if (info === undefined) return;
    if (info.consumerSeq !== consumer.delivered + 1) {
      this.#mend();
      return;
    }
    consumer.delivered += 1;
    this.#after = info.seq;
    this.#options.onMessage({ seq: info.seq, subject: message.subject, text: textOf(message) });
  }

  #control(message: Msg, delivered: number): void {
    if (message.headers?.code !== STATUS_CONTROL) {
      this.#mend();
      return;
    }
    // The server waits for an answer to a flow control request, also when a heartbeat carries it.
    const reply = message.reply || message.headers.get("Nats-Consumer-Stalled");
    if (reply) this.#wire.tell(reply, "");
    const last = message.headers.get("Nats-Last-Consumer");
    if (last !== "" && Number(last) !== delivered) this.#mend();
  }

  #watch(): void {
    const overdue = (): boolean =>
      this.#consumer !== undefined && this.#wire.up && performance.now() - this.#heardAt >= SILENCE_MS;
    if (!overdue()) return;
    // After a blocked event loop the heartbeats lie in the socket: read them before judging.
    setImmediate(() => {
      if (overdue()) this.#mend();
    });
  }

  #mend(): void {
    this.#close();
    if (this.#stopped || !this.#wire.up) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.#reopen(), this.#pauseMs).unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }

  async #reopen(): Promise<void> {
    if (this.#stopped) return;
    this.#close();
    const turn = ++this.#opening;
    try {
      const last = await this.#lastSequence();
      if (turn !== this.#opening || this.#stopped) return;
      // The stream has lost its end, or is a new one: waiting for old numbers would leave messages out.
      if (this.#after !== "last" && last < this.#after) this.#after = last;
      await this.#open(turn);
    } catch {
      // A failure of an attempt that a later one has replaced says nothing about that one.
      if (turn === this.#opening) this.#mend();
    }
  }

  async #lastSequence(): Promise<number> {
    const jsm = await jetstreamManager(this.#wire.nc, { checkAPI: false });
    return (await jsm.streams.info(this.#options.stream)).state.last_seq;
  }

  #close(): void {
    const consumer = this.#consumer;
    this.#consumer = undefined;
    clearTimeout(this.#retry);
    if (consumer === undefined) return;
    consumer.subscription.unsubscribe();
    this.#remove(consumer.name);
  }

  /** A tidy-up: without listeners the server removes it by itself after some seconds. */
  #remove(name: string): void {
    if (this.#wire.up) this.#wire.tell(`$JS.API.CONSUMER.DELETE.${this.#options.stream}.${name}`, "");
  }
}
