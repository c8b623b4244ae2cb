import { decodeReply, type SessionKey } from "@troupe/contracts";
import type { OutboxBell, OutboxEvent } from "@troupe/jetstream";
import type { Backoff } from "@troupe/platform";
import type { Delivery } from "./delivery.js";
import type { DeliveryReport } from "./delivery-report.js";
import { replyOf } from "./reply.js";
import type { UnreadReplies } from "./unread-replies.js";

type ShownReply = NonNullable<ReturnType<typeof replyOf>>;

/** What a line works with; all of it is shared by the lines of a desk. */
export interface LinePorts {
  /** The conversation's stored messages behind a sequence, in order. */
  readonly replay: (key: SessionKey, after: number) => Promise<readonly OutboxEvent[]>;
  /** The message with its whole text. */
  readonly whole: (event: OutboxEvent) => Promise<OutboxEvent>;
  /** Whether the message is still in the stream, by its leader. */
  readonly exists: (seq: number) => Promise<boolean>;
  /** Up to here all replies of the channel are delivered. */
  readonly floor: () => Promise<number>;
  readonly delivery: (key: SessionKey, event: OutboxEvent, reply: ShownReply) => Delivery;
  readonly ack: (bell: OutboxBell) => void;
  readonly nak: (bell: OutboxBell, delayMs: number) => void;
  /** Before a reply is shown: nothing that it replaces may be shown after it. */
  readonly beforeSend: (key: SessionKey, turn: string | null) => Promise<void>;
  readonly unread: Pick<UnreadReplies, "bury" | "newer">;
  readonly onEnd: DeliveryReport;
  readonly onTrouble: (key: SessionKey, cause: unknown) => void;
  /** Pauses while something of ours does not work. */
  readonly troubles: () => Backoff;
  /** Milliseconds until the next attempt after the n-th; the outside may have asked for some. */
  readonly pauseAfter: (attempt: number, askedMs: number | undefined) => number;
  /** Ends early when the process is about to end. */
  readonly sleep: (ms: number) => Promise<void>;
  /** Takes its time in any case. */
  readonly wait: (ms: number) => Promise<void>;
}

/** A conversation that pauses for longer rests: its bells are given back and ring again when it is time. */
const SHORT_PAUSE_MS = 5_000;
/** What is known of a send is written down before others take over: so often it is tried, with pauses. */
const CLOSE_TRIES = 8;
const CLOSE_PAUSE_MS = 250;

/** A number: pause for so many milliseconds. `trouble`: something of ours did not work. */
type PassEnd = "done" | "trouble" | number;

/**
 * The replies of one conversation, one after the other.
 *
 * L1 A bell only says that something is there: what is delivered, and in which order, is read from the log. So a reply
 *    goes out when all before it are settled, whatever the order of the bells.
 * L2 Before each attempt the log is read anew: what was removed meanwhile is not sent any more.
 * L3 A bell is acked when its reply is settled or gone, not before.
 */
export class ConversationLine {
  readonly #key: SessionKey;
  readonly #ports: LinePorts;
  readonly #bells = new Map<number, OutboxBell>();
  #settledTo: number | undefined;
  #current: { readonly event: OutboxEvent; readonly reply: ShownReply; readonly delivery: Delivery } | undefined;

  /** @param settledTo up to here the conversation's replies are settled, if that is known */
  constructor(key: SessionKey, ports: LinePorts, settledTo: number | undefined) {
    this.#key = key;
    this.#ports = ports;
    this.#settledTo = settledTo;
  }

  get settledTo(): number | undefined {
    return this.#settledTo;
  }

  ring(bell: OutboxBell): void {
    this.#bells.set(bell.seq, bell);
    this.#ackSettled();
  }

  get hasBells(): boolean {
    return this.#bells.size > 0;
  }

  /** The bells have been let go: they ring again, here or elsewhere, and where it had come to is no longer known. */
  drop(): void {
    this.#bells.clear();
    this.#settledTo = undefined;
  }

  /**
   * Resolves when no bell is left, when others have taken over, or when the conversation has to rest: to the
   * milliseconds then, else to null.
   *
   * @param isOurs whether this process is still the one that delivers
   */
  async run(isOurs: () => boolean): Promise<number | null> {
    const troubles = this.#ports.troubles();
    let restMs: number | null = null;
    while (this.hasBells && isOurs() && restMs === null) {
      const end = await this.#pass(isOurs).catch((cause: unknown): PassEnd => {
        this.#ports.onTrouble(this.#key, cause);
        return "trouble";
      });
      if (end === "done") troubles.reset();
      else if (end === "trouble") await this.#ports.sleep(troubles.next());
      else if (end > SHORT_PAUSE_MS) restMs = end;
      else await this.#ports.sleep(end);
    }
    await this.#close();
    return restMs;
  }

  /** Gives all bells back for a time. */
  rest(ms: number): void {
    for (const bell of this.#bells.values()) this.#ports.nak(bell, ms);
    this.#bells.clear();
  }

  /** D5 Whoever takes over finds what is known here. */
  async #close(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    for (let tries = 1; current !== undefined; tries++) {
      try {
        const end = await current.delivery.close();
        if (end !== null) this.#ports.onEnd(current.reply, current.event, end);
        return;
      } catch (cause) {
        this.#ports.onTrouble(this.#key, cause);
        if (tries === CLOSE_TRIES) return;
      }
      await this.#ports.wait(CLOSE_PAUSE_MS);
    }
  }

  /** Delivers as far as it goes. */
  async #pass(isOurs: () => boolean): Promise<PassEnd> {
    const { replay, floor, exists } = this.#ports;
    this.#settledTo ??= await floor();
    const events = await replay(this.#key, this.#settledTo);
    for (const event of events) {
      if (!isOurs()) return "trouble";
      const end = await this.#deliver(event, isOurs);
      if (end !== "done") return end;
      this.#settle(event.seq);
    }
    // A bell for what the log does not show: removed, or a replica lags.
    for (const seq of [...this.#bells.keys()].toSorted((a, b) => a - b)) {
      if (await exists(seq)) return "trouble";
      this.#settle(seq);
    }
    return "done";
  }

  async #deliver(event: OutboxEvent, isOurs: () => boolean): Promise<PassEnd> {
    const { unread } = this.#ports;
    const decoded = decodeReply(this.#key, (await this.#ports.whole(event)).text);
    if (decoded.kind === "newer") {
      unread.newer(event, decoded.version);
      return NEWER_PAUSE_MS;
    }
    if (decoded.kind === "invalid") {
      await unread.bury(event);
      return "done";
    }
    const reply = replyOf(this.#key, decoded.message);
    if (reply === null) return "done";
    if (this.#current?.event.seq !== event.seq) {
      this.#current = { event, reply, delivery: this.#ports.delivery(this.#key, event, reply) };
    }
    await this.#ports.beforeSend(this.#key, reply.turn);
    const end = await this.#current.delivery.attempt(isOurs);
    this.#ports.onEnd(reply, event, end);
    if (end.kind === "again") return this.#ports.pauseAfter(end.attempt, end.afterMs);
    this.#current = undefined;
    if (end.kind === "newer") {
      unread.newer(event, end.version);
      return NEWER_PAUSE_MS;
    }
    return end.kind === "left" ? "trouble" : "done";
  }

  #settle(seq: number): void {
    this.#settledTo = Math.max(seq, this.#settledTo ?? 0);
    this.#ackSettled();
  }

  #ackSettled(): void {
    for (const [seq, bell] of this.#bells) {
      if (this.#settledTo === undefined || seq > this.#settledTo) continue;
      this.#bells.delete(seq);
      this.#ports.ack(bell);
    }
  }
}

/** What a newer process must read waits for one; this one looks again now and then. */
const NEWER_PAUSE_MS = 30_000;
