import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import type { SessionKey } from "@troupe/contracts";
import type { DeliveryLedger, OutboxBell, OutboxEvent, OutboxQueue } from "@troupe/jetstream";
import { backoff } from "@troupe/platform";
import type { Channel } from "../channel.js";
import { BellKeeper } from "./bell-keeper.js";
import { ConversationLine, type LinePorts } from "./conversation-line.js";
import { Delivery } from "./delivery.js";
import type { DeliveryClock } from "./delivery-clock.js";
import { pauseAfter } from "./delivery-rules.js";

export interface DeskPorts {
  readonly channel: Channel;
  readonly ledger: DeliveryLedger;
  readonly clock: DeliveryClock;
  readonly replay: LinePorts["replay"];
  readonly whole: LinePorts["whole"];
  readonly exists: LinePorts["exists"];
  readonly beforeSend: LinePorts["beforeSend"];
  readonly unread: LinePorts["unread"];
  readonly onEnd: LinePorts["onEnd"];
  /** @param cause what was thrown */
  readonly onTrouble: (line: string, cause: unknown) => void;
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

/** Bells that are held at once; more only for conversations that are being worked on. */
const MOST_HELD = 1_000;
/** What is over that rings again after this. */
const SURPLUS_DELAY_MS = 5_000;
/** Pauses while ledger or log cannot be reached. */
const TROUBLE = { minMs: 200, maxMs: 5_000 };
/** Sends under way get so long when the process is to end: less than a service may take to drain. */
const HURRY_AFTER_MS = 4_000;

/** Conversations whose place in the log is remembered; of others it is found again in the ledger. */
const PLACES_KEPT = 10_000;

/** Delivers a channel's replies: conversations side by side, the replies of each in order. */
export class DeliveryDesk {
  readonly #ports: DeskPorts;
  readonly #keeper: BellKeeper;
  readonly #lines = new Map<SessionKey, ConversationLine>();
  readonly #running = new Set<Promise<void>>();
  readonly #places = new Map<SessionKey, number>();
  /** Until when a conversation rests, by the monotonic clock. */
  readonly #resting = new Map<SessionKey, number>();
  readonly #stopping = new AbortController();
  readonly #hurry = new AbortController();
  readonly #never = new AbortController();
  #queue: Pick<OutboxQueue, "floor"> | undefined;

  constructor(ports: DeskPorts) {
    this.#ports = ports;
    this.#keeper = new BellKeeper(ports.clock, () => this.#forget());
    // One listener for each conversation that waits, however many.
    for (const { signal } of [this.#stopping, this.#hurry, this.#never]) setMaxListeners(0, signal);
  }

  /** Where the channel's progress is asked for; to be set before the first bell. */
  set queue(queue: Pick<OutboxQueue, "floor">) {
    this.#queue = queue;
  }

  /** False: there are too many at once; it was given back and rings again. */
  ring(bell: OutboxBell): boolean {
    if (this.#stopping.signal.aborted || !this.#keeper.hold(bell)) return true;
    const running = this.#lines.get(bell.key);
    if (running !== undefined) {
      running.ring(bell);
      return true;
    }
    const restMs = (this.#resting.get(bell.key) ?? 0) - this.#ports.clock.monotonic();
    if (restMs > 0) {
      this.#keeper.nak(bell, restMs);
      return true;
    }
    this.#resting.delete(bell.key);
    if (this.#keeper.count > MOST_HELD) {
      this.#keeper.nak(bell, SURPLUS_DELAY_MS);
      return false;
    }
    const line = new ConversationLine(bell.key, this.#linePorts, this.#places.get(bell.key));
    line.ring(bell);
    this.#lines.set(bell.key, line);
    const done = this.#run(bell.key, line).finally(() => this.#running.delete(done));
    this.#running.add(done);
    return true;
  }

  /** The connection was lost: other processes may be served what is held here. */
  lapse(): void {
    this.#keeper.lapse();
  }

  /** Replies that wait or are on their way. */
  get busyLines(): number {
    return this.#lines.size;
  }

  /** Begins no send any more; resolves when those that are under way have ended and are recorded. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const timer = setTimeout(() => this.#hurry.abort(), HURRY_AFTER_MS);
    await Promise.all(this.#running);
    clearTimeout(timer);
    this.#keeper.stop();
  }

  async #run(key: SessionKey, line: ConversationLine): Promise<void> {
    while (line.hasBells && !this.#stopping.signal.aborted) {
      const { era } = this.#keeper;
      const isOurs = (): boolean => this.#keeper.era === era && !this.#stopping.signal.aborted;
      const restMs = await line.run(isOurs);
      if (restMs === null || !isOurs()) continue;
      this.#resting.set(key, this.#ports.clock.monotonic() + restMs);
      line.rest(restMs);
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

  /** Another process may have gone on, or the stream may be a new one: nothing that is remembered holds. */
  #forget(): void {
    this.#places.clear();
    this.#resting.clear();
    for (const line of this.#lines.values()) line.drop();
  }

  get #linePorts(): LinePorts {
    const { clock, limits, replay, whole, exists, beforeSend, unread, onEnd, onTrouble } = this.#ports;
    return {
      replay,
      whole,
      exists,
      beforeSend,
      unread,
      onEnd,
      floor: async () => (await this.#queue?.floor()) ?? 0,
      delivery: (key, event, reply) => this.#deliveryOf(key, event, reply),
      ack: (bell) => this.#keeper.ack(bell),
      nak: (bell, delayMs) => this.#keeper.nak(bell, delayMs),
      onTrouble: (key, cause) => onTrouble(`replies of ${key}: ${reasonOf(cause)}`, cause),
      troubles: () => backoff(TROUBLE),
      pauseAfter: (attempt, askedMs) => pauseAfter(attempt, askedMs, limits),
      sleep: (ms) => clock.sleep(ms, this.#stopping.signal),
      wait: (ms) => clock.sleep(ms, this.#never.signal),
    };
  }

  #deliveryOf(key: SessionKey, { seq }: OutboxEvent, reply: Parameters<LinePorts["delivery"]>[2]): Delivery {
    const { ledger, channel, clock, limits, exists } = this.#ports;
    const own = { hurry: this.#hurry.signal, isWanted: () => exists(seq), now: () => clock.now() };
    const ports = { ledger, channel, ...own, ...limits };
    return new Delivery(ports, { place: { key, id: reply.id }, seq, reply, sender: randomUUID() });
  }
}

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
