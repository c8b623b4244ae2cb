import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { decode, OutboxMessage, type SessionKey } from "@troupe/contracts";
import type { BlobPlace, BlobStore } from "./blob-store.js";
import type { OutboxEvent } from "./outbox-feed.js";

/** A field's name cannot stand like this inside of a text: quotation marks are escaped there. */
const MARK = '"rest":';
/** Stands where the rest of a text should that is not there any more. */
const LOST = " […]";
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
/** Ten minutes: a final is not shown without its end because the server was away for a while. */
const MOST_TRIES = 600;

/** Puts the rest of large texts to the events that hold only their beginning (K12). */
export class WholeEvents {
  readonly #blobs: Pick<BlobStore, "get">;
  readonly #stopping = new AbortController();
  /** Of each conversation with an event under way: what its next event waits for. */
  readonly #underWay = new Map<SessionKey, Promise<void>>();

  constructor(blobs: Pick<BlobStore, "get">) {
    this.#blobs = blobs;
    // Any number of conversations may wait.
    setMaxListeners(0, this.#stopping.signal);
  }

  /** Hands the event on, in the order of each conversation's events; at once, unless there is something to fetch. */
  pass(event: OutboxEvent, then: (event: OutboxEvent) => void): void {
    const { key, text } = event;
    const before = this.#underWay.get(key);
    if (before === undefined && !text.includes(MARK)) return then(event);
    const passed = (before ?? Promise.resolve()).then(async () => {
      const whole = await this.#surely(event);
      if (!this.#stopping.signal.aborted) then(whole);
    });
    this.#underWay.set(key, passed);
    void passed.finally(() => {
      if (this.#underWay.get(key) === passed) this.#underWay.delete(key);
    });
  }

  /** Passes nothing on any more, and waits for nothing. */
  stop(): void {
    this.#stopping.abort();
  }

  /** The server may be away for a moment; at last the beginning has to do, with a sign that it is no more than that. */
  async #surely(event: OutboxEvent): Promise<OutboxEvent> {
    const { signal } = this.#stopping;
    for (let tries = 1, pauseMs = FIRST_PAUSE_MS; tries <= MOST_TRIES && !signal.aborted; tries++) {
      try {
        return await this.of(event);
      } catch {
        await delay(pauseMs, undefined, { signal }).catch(() => undefined);
      }
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    }
    return put(event, async () => LOST);
  }

  /** The event with its whole text. Rejects when that cannot be read now. */
  of(event: OutboxEvent): Promise<OutboxEvent> {
    return put(event, async (place, blob) => (await this.#blobs.get(place, blob)) ?? LOST);
  }
}

/** Puts to the beginning of a large text what this finds for it. */
async function put(
  event: OutboxEvent,
  find: (place: BlobPlace, blob: string) => Promise<string>,
): Promise<OutboxEvent> {
  if (!event.text.includes(MARK)) return event;
  const decoded = decode(OutboxMessage, event.text);
  if (decoded.kind !== "ok" || decoded.message.kind !== "final") return event;
  const { rest, final, ...head } = decoded.message;
  if (rest === undefined) return event;
  const text = final.text + (await find({ key: event.key, generation: head.generation }, rest.blob));
  return { ...event, text: JSON.stringify({ ...head, final: { ...final, text } }) };
}
