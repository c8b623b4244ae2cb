import { decodeReply, formatSessionId, type SessionKey, sessionOfKey } from "@troupe/contracts";
import type { DeadReplies, OutboxEvent } from "@troupe/jetstream";
import { backoff, delay, type Logger, type Metrics } from "@troupe/platform";

/** What lies in the outbox and is no reply, or none that this version knows, or is recorded in a form it does not know. */
export type UnreadReply = Pick<OutboxEvent, "key" | "seq">;

/** Of the log line; the letter holds the whole. */
const MAX_REASON_LENGTH = 200;
/** How many are remembered before all is news again. */
const MOST_TOLD = 10_000;
const PAUSES = { minMs: 200, maxMs: 10_000 };

/**
 * Replies that cannot be read.
 *
 * U1 What no version can read becomes a dead letter, by whoever serves the channel: the process that its consumer
 *    serves, before it acks. Of a channel without a consumer every gateway does it, and their copies collapse.
 * U2 What a newer version can read is left to that, and said once.
 */
export class UnreadReplies {
  readonly #dead: DeadReplies;
  readonly #log: Logger;
  readonly #count: () => void;
  readonly #told = new Set<string>();
  readonly #stopping = new AbortController();
  /** One after the other: a flood of them must not take the connection from what can be read. */
  #last: Promise<void> = Promise.resolve();

  constructor(dead: DeadReplies, { log, metrics }: { readonly log: Logger; readonly metrics: Metrics }) {
    this.#dead = dead;
    this.#log = log;
    const letters = metrics.counter({
      name: "troupe_dead_letters_total",
      help: "Replies given up on, that DEAD has acknowledged",
      labelNames: ["kind"],
    });
    this.#count = () => letters.inc({ kind: "reply" });
  }

  /** U1 Rejects when the message may still be in the outbox. */
  async bury({ seq }: Pick<UnreadReply, "seq">): Promise<void> {
    const letter = await this.#dead.bury(seq);
    if (letter === null) return;
    this.#count();
    const reason = letter.reason.slice(0, MAX_REASON_LENGTH).toWellFormed();
    this.#log.warn({ session: nameOf(letter.key), reason }, "gave up on reply: look at it with `troupe dead list`");
  }

  /** U2 */
  newer({ key, seq }: UnreadReply, version: number): void {
    const what = `${key} ${seq}`;
    if (this.#told.has(what)) return;
    if (this.#told.size >= MOST_TOLD) this.#told.clear();
    this.#told.add(what);
    this.#log.warn(
      { session: nameOf(key), seq, version },
      "left to a newer service: a reply, or its record, of a schema this version does not know",
    );
  }

  /** Looks at an event that nothing waits for. Never throws: what cannot be moved now is tried again until stopped. */
  look(event: OutboxEvent): void {
    const read = decodeReply(event.key, event.text);
    if (read.kind === "newer") this.newer(event, read.version);
    if (read.kind !== "invalid" || this.#stopping.signal.aborted) return;
    this.#last = this.#last.then(() => this.#surely(event.seq));
  }

  /** Resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#last;
  }

  async #surely(seq: number): Promise<void> {
    const { signal } = this.#stopping;
    const pauses = backoff(PAUSES);
    for (let isNews = true; !signal.aborted; isNews = false) {
      try {
        return await this.bury({ seq });
      } catch (err) {
        if (isNews)
          this.#log.warn({ err, seq }, "a reply that cannot be read could not be moved to DEAD, trying again");
      }
      await delay(pauses.next(), signal).catch(() => undefined);
    }
  }
}

function nameOf(key: SessionKey): string {
  const session = sessionOfKey(key);
  return session === undefined ? key : formatSessionId(session.id);
}
