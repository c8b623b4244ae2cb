import { formatSessionId, type SessionKey, sessionOfKey } from "@troupe/contracts";
import type { Channel, PreviewText } from "../channel.js";
import type { DeliveryClock } from "../outbound/delivery-clock.js";
import type { ConversationEvent } from "./conversation-event.js";
import { type EventSources, followConversation } from "./follow-conversation.js";
import { Preview } from "./preview.js";

/** Between two previews of a conversation; what a person reads along with. */
export const PREVIEW_EVERY_MS = 700;
/** A preview that takes longer is given up: the reply waits for it. */
const PREVIEW_LIMIT_MS = 5_000;
/** A turn whose final has not been heard for so long is no longer watched, and neither is the oldest of too many. */
const WATCH_LIMIT_MS = 3_600_000;
const MOST_WATCHED = 5_000;

interface Watched {
  readonly stop: () => void;
  readonly preview: Preview;
  readonly open: Set<string>;
  turn: string | undefined;
  /** What the channel was given last. */
  shown: string;
  showing: boolean;
  /** When a turn was expected last, by the monotonic clock. */
  since: number;
}

/**
 * Shows answers as they come, in the process that took their messages in.
 *
 * P1 A preview is never evidence: nothing waits for one except the reply that replaces it, and failures are forgotten.
 * P2 From the moment a turn's reply is being sent, or its final has been heard, no preview of it begins.
 */
export class PreviewDesk {
  readonly #sources: EventSources;
  readonly #channel: Pick<Channel, "preview">;
  readonly #clock: DeliveryClock;
  /** The one that expected a turn last is last. */
  readonly #watched = new Map<SessionKey, Watched>();
  /** Previews that the channel has not taken yet: they outlive the watch that began them. */
  readonly #underWay = new Map<SessionKey, Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(sources: EventSources, channel: Pick<Channel, "preview">, clock: DeliveryClock) {
    this.#sources = sources;
    this.#channel = channel;
    this.#clock = clock;
  }

  /** A message of this turn is about to be sent in; the result takes that back, if it was news. */
  expect(key: SessionKey, turn: string): () => void {
    const known = this.#watched.get(key);
    if (this.#stopping.signal.aborted || known?.open.has(turn)) return () => undefined;
    const watched = known ?? this.#watch(key);
    watched.open.add(turn);
    watched.since = this.#clock.monotonic();
    this.#watched.delete(key);
    this.#watched.set(key, watched);
    this.#tidy();
    return () => void this.end(key, turn);
  }

  /** P2 Resolves when no preview of the conversation is under way that could come after the turn's reply. */
  async end(key: SessionKey, turn: string): Promise<void> {
    const watched = this.#watched.get(key);
    watched?.open.delete(turn);
    watched?.preview.end(turn);
    if (watched?.open.size === 0) this.#leave(key, watched);
    await this.#underWay.get(key);
  }

  stop(): void {
    this.#stopping.abort();
    for (const { stop } of this.#watched.values()) stop();
    this.#watched.clear();
  }

  #leave(key: SessionKey, watched: Watched): void {
    watched.open.clear();
    watched.stop();
    this.#watched.delete(key);
  }

  #tidy(): void {
    const now = this.#clock.monotonic();
    for (const [key, watched] of this.#watched) {
      if (this.#watched.size <= MOST_WATCHED && now - watched.since < WATCH_LIMIT_MS) return;
      this.#leave(key, watched);
    }
  }

  #watch(key: SessionKey): Watched {
    const following = followConversation(this.#sources, key, {
      after: null,
      onEvent: (event) => this.#take(key, watched, event),
    });
    const watched: Watched = {
      stop: () => following.stop(),
      preview: new Preview(),
      open: new Set(),
      turn: undefined,
      shown: "",
      showing: false,
      since: 0,
    };
    this.#watched.set(key, watched);
    return watched;
  }

  #take(key: SessionKey, watched: Watched, event: ConversationEvent): void {
    if (event.kind === "durable") {
      if (event.ends !== null) void this.end(key, event.ends);
      return;
    }
    const { kind, data } = event.event;
    if (!watched.open.has(data.turn)) return;
    if (kind === "delta") watched.preview.append(data);
    else if (kind === "reset") watched.preview.reset(data);
    if (watched.turn !== data.turn) watched.shown = "";
    watched.turn = data.turn;
    void this.#show(key, watched);
  }

  /** One after the other with pauses between them, until there is nothing new. */
  async #show(key: SessionKey, watched: Watched): Promise<void> {
    const session = sessionOfKey(key);
    if (session === undefined || watched.showing) return;
    watched.showing = true;
    const where = { session: formatSessionId(session.id), conversation: session.id.conversation };
    for (let next = this.#news(watched); next !== undefined; next = this.#news(watched)) {
      watched.shown = next.text;
      const underWay = this.#preview({ ...where, ...next });
      this.#underWay.set(key, underWay);
      await underWay;
      if (this.#underWay.get(key) === underWay) this.#underWay.delete(key);
      await this.#clock.sleep(PREVIEW_EVERY_MS, this.#stopping.signal);
    }
    watched.showing = false;
  }

  #news({ turn, open, preview: { text }, shown }: Watched): Pick<PreviewText, "turn" | "text"> | undefined {
    const stopped = this.#stopping.signal.aborted;
    return stopped || turn === undefined || !open.has(turn) || text === "" || text === shown
      ? undefined
      : { turn, text };
  }

  /** P1 */
  async #preview(preview: PreviewText): Promise<void> {
    const limit = AbortSignal.timeout(PREVIEW_LIMIT_MS);
    const late = new Promise<void>((resolve) => limit.addEventListener("abort", () => resolve(), { once: true }));
    try {
      await Promise.race([this.#channel.preview(preview, limit), late]);
    } catch {
      // The reply will say it all.
    }
  }
}
