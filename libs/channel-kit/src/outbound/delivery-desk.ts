import { randomUUID } from "node:crypto";
import type { SessionKey } from "@troupe/contracts";
import type { DeliveryLedger, OutboxBell, OutboxEvent, OutboxQueue } from "@troupe/jetstream";
import { backoff } from "@troupe/platform";
import type { Channel } from "../channel.js";
import { BellKeeper } from "./bell-keeper.js";
import { ConversationLine, type LinePorts } from "./conversation-line.js";
import { type AttemptEnd, Delivery } from "./delivery.js";
import type { DeliveryClock } from "./delivery-clock.js";

export interface DeskPorts {
  readonly channel: Channel;
  readonly ledger: DeliveryLedger;
  readonly clock: DeliveryClock;
  readonly replay: LinePorts["replay"];
  readonly whole: LinePorts["whole"];
  readonly exists: LinePorts["exists"];
  readonly beforeSend: LinePorts["beforeSend"];
  readonly onEnd: (key: SessionKey, event: OutboxEvent, end: AttemptEnd) => void;
  readonly onTrouble: (line: string) => void;
  readonly limits: DeliveryLimits;
}

export interface DeliveryLimits {
  /** A send that takes longer has an unknown outcome. */
  readonly sendLimitMs: number;
  /** Sends of one reply that surely was not shown; with the pauses between them about a day at 300. */
  readonly maxAttempts: number;
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
}

export const DEFAULT_LIMITS: DeliveryLimits = {
  sendLimitMs: 30_000,
  maxAttempts: 300,
  firstPauseMs: 1_000,
  longestPauseMs: 300_000,
};

/** Conversations whose place in the log is remembered; of others it is found again in the ledger. */
const PLACES_KEPT = 10_000;

/** Delivers a channel's replies: conversations side by side, the replies of each in order. */
export class DeliveryDesk {
  readonly #ports: DeskPorts;
  readonly #keeper: BellKeeper;
  readonly #lines = new Map<SessionKey, ConversationLine>();
  readonly #running = new Set<Promise<void>>();
  readonly #places = new Map<SessionKey, number>();
  readonly #stopping = new AbortController();
  #queue: Pick<OutboxQueue, "floor"> | undefined;

  constructor(ports: DeskPorts) {
    this.#ports = ports;
    this.#keeper = new BellKeeper(ports.clock, () => this.#lapse());
  }

  /** Where the channel's progress is asked for; to be set before the first bell. */
  set queue(queue: Pick<OutboxQueue, "floor">) {
    this.#queue = queue;
  }

  ring(bell: OutboxBell): void {
    if (this.#stopping.signal.aborted || !this.#keeper.hold(bell)) return;
    const running = this.#lines.get(bell.key);
    if (running !== undefined) return running.ring(bell);
    const line = new ConversationLine(bell.key, this.#linePorts, this.#places.get(bell.key));
    line.ring(bell);
    this.#lines.set(bell.key, line);
    const done = this.#run(bell.key, line).finally(() => this.#running.delete(done));
    this.#running.add(done);
  }

  /** Replies that wait or are on their way. */
  get busyLines(): number {
    return this.#lines.size;
  }

  /** Begins no send any more; resolves when those that are under way have ended and are recorded. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
    this.#keeper.stop();
  }

  async #run(key: SessionKey, line: ConversationLine): Promise<void> {
    while (line.hasBells && !this.#stopping.signal.aborted) {
      const { era } = this.#keeper;
      await line.run(() => this.#keeper.era === era && !this.#stopping.signal.aborted);
    }
    this.#lines.delete(key);
    if (line.settledTo !== undefined) this.#remember(key, line.settledTo);
  }

  #remember(key: SessionKey, settledTo: number): void {
    this.#places.delete(key);
    this.#places.set(key, settledTo);
    if (this.#places.size <= PLACES_KEPT) return;
    const [oldest] = this.#places.keys();
    if (oldest !== undefined) this.#places.delete(oldest);
  }

  /** Another process may have gone on: nothing that is remembered holds. */
  #lapse(): void {
    this.#places.clear();
    for (const line of this.#lines.values()) line.drop();
  }

  get #linePorts(): LinePorts {
    const { clock, limits, replay, whole, exists, beforeSend, onEnd, onTrouble } = this.#ports;
    return {
      replay,
      whole,
      exists,
      beforeSend,
      onEnd,
      floor: async () => (await this.#queue?.floor()) ?? 0,
      delivery: (key, event, reply) => this.#deliveryOf(key, event, reply),
      ack: (bell) => this.#keeper.ack(bell),
      onTrouble: (key, reason) => onTrouble(`replies of ${key}: ${reason}`),
      backoff: () => backoff({ minMs: limits.firstPauseMs, maxMs: limits.longestPauseMs }),
      sleep: (ms) => clock.sleep(ms, this.#stopping.signal),
    };
  }

  #deliveryOf(key: SessionKey, { seq }: OutboxEvent, reply: Parameters<LinePorts["delivery"]>[2]): Delivery {
    const { ledger, channel, clock, limits } = this.#ports;
    const ports = { ledger, channel, now: () => clock.now(), ...limits };
    return new Delivery(ports, { place: { key, id: reply.id }, seq, reply, sender: randomUUID() });
  }
}
