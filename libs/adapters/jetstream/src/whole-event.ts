import { setTimeout as delay } from "node:timers/promises";
import { decode, OutboxMessage, type SessionKey } from "@troupe/contracts";
import type { BlobStore } from "./blob-store.js";
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
  /** Of each conversation with an event under way: what its next event waits for. */
  readonly #underWay = new Map<SessionKey, Promise<void>>();

  constructor(blobs: Pick<BlobStore, "get">) {
    this.#blobs = blobs;
  }

  /** Hands the event on, in the order of each conversation's events; at once, unless there is something to fetch. */
  pass(event: OutboxEvent, then: (event: OutboxEvent) => void): void {
    const { key, text } = event;
    const before = this.#underWay.get(key);
    if (before === undefined && !text.includes(MARK)) return then(event);
    const passed = (before ?? Promise.resolve()).then(async () => then(await this.#surely(event)));
    this.#underWay.set(key, passed);
    void passed.finally(() => {
      if (this.#underWay.get(key) === passed) this.#underWay.delete(key);
    });
  }

  /** The server may be away for a moment; at last the beginning has to do. */
  async #surely(event: OutboxEvent): Promise<OutboxEvent> {
    for (let tries = 1, pauseMs = FIRST_PAUSE_MS; ; tries++) {
      try {
        return await this.of(event);
      } catch {
        if (tries >= MOST_TRIES) return event;
      }
      await delay(pauseMs);
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    }
  }

  /** The event with its whole text. Rejects when that cannot be read now. */
  async of(event: OutboxEvent): Promise<OutboxEvent> {
    if (!event.text.includes(MARK)) return event;
    const decoded = decode(OutboxMessage, event.text);
    if (decoded.kind !== "ok" || decoded.message.kind !== "final") return event;
    const { rest, final, ...head } = decoded.message;
    if (rest === undefined) return event;
    const place = { key: event.key, generation: head.generation };
    const text = final.text + ((await this.#blobs.get(place, rest.blob)) ?? LOST);
    return { ...event, text: JSON.stringify({ ...head, final: { ...final, text } }) };
  }
}
