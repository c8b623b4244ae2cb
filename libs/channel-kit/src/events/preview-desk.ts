import { setMaxListeners } from "node:events";
import { formatSessionId, type SessionKey, sessionOfKey } from "@troupe/contracts";
import type { TurnEndings } from "@troupe/jetstream";
import type { Channel, PreviewText } from "../channel.js";
import type { DeliveryClock } from "../outbound/delivery-clock.js";
import type { ConversationEvent } from "./conversation-event.js";
import { type EventSources, followConversation } from "./follow-conversation.js";
import { Preview } from "./preview.js";

/** Between two previews of a conversation; what a person reads along with. */
export const PREVIEW_EVERY_MS = 700;
/** A preview that takes longer is given up: the reply waits for it. */
const PREVIEW_LIMIT_MS = 5_000;
/** Longer than a preview that another process shows may take. */
const ASK_LIMIT_MS = PREVIEW_LIMIT_MS + 1_000;
const LOOK_MS = 500;
/** P3 Shorter than others wait. */
const STOOD_STILL_MS = PREVIEW_LIMIT_MS - 1_000;
/** A turn whose final has not been heard for so long is no longer watched, and neither is the oldest of too many. */
const WATCH_LIMIT_MS = 3_600_000;
const MOST_WATCHED = 5_000;

export interface PreviewSources extends EventSources {
  readonly endings: TurnEndings;
}

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
 * P3 A process that is about to send asks the one that took the message in, and waits until no preview is under way
 *    there. One that does not answer is not waited for any longer than a preview may take, and one that has stood still
 *    for nearly so long shows nothing more of what it expected before.
 */
export class PreviewDesk {
  readonly #sources: PreviewSources;
  readonly #channel: Pick<Channel, "preview">;
  readonly #clock: DeliveryClock;
  /** The one that expected a turn last is last. */
  readonly #watched = new Map<SessionKey, Watched>();
  /** Previews that the channel has not taken yet, one of a conversation: they outlive the watch that began them. */
  readonly #underWay = new Map<SessionKey, Promise<void>>();
  /** Answers others, by conversation and turn: until no preview of it can be under way. */
  readonly #served = new Map<string, () => void>();
  readonly #stopping = new AbortController();
  readonly #stopLooking: () => void;
  #lookedAt: number;

  constructor(sources: PreviewSources, channel: Pick<Channel, "preview">, clock: DeliveryClock) {
    this.#sources = sources;
    this.#channel = channel;
    this.#clock = clock;
    this.#lookedAt = clock.monotonic();
    // One listener for each preview that is under way, and one for each pause after one.
    setMaxListeners(0, this.#stopping.signal);
    this.#stopLooking = clock.every(LOOK_MS, () => this.#look());
  }

  /** A message of this turn is about to be sent in; the result takes that back, if it was news. */
  expect(key: SessionKey, turn: string): () => void {
    const known = this.#watched.get(key);
    if (this.#stopping.signal.aborted || known?.open.has(turn)) return () => undefined;
    const watched = known ?? this.#watch(key);
    watched.open.add(turn);
    const served = `${key} ${turn}`;
    if (!this.#served.has(served)) {
      this.#served.set(
        served,
        this.#sources.endings.serve(key, turn, () => this.end(key, turn)),
      );
    }
    watched.since = this.#clock.monotonic();
    this.#watched.delete(key);
    this.#watched.set(key, watched);
    this.#tidy();
    return () => void this.end(key, turn);
  }

  /**
   * Ends a turn's previews, here and in the process that shows them (P2, P3). To be awaited before its reply is sent.
   *
   * @throws when the connection is lost
   */
  async endAnywhere(key: SessionKey, turn: string): Promise<void> {
    const isShownHere = this.#served.has(`${key} ${turn}`);
    await this.end(key, turn);
    if (!isShownHere) await this.#sources.endings.ask(key, turn, ASK_LIMIT_MS);
  }

  /** P2 Resolves when no preview of the conversation is under way here that could come after the turn's reply. */
  async end(key: SessionKey, turn: string): Promise<void> {
    const watched = this.#watched.get(key);
    watched?.open.delete(turn);
    watched?.preview.end(turn);
    if (watched?.open.size === 0) {
      watched.stop();
      this.#watched.delete(key);
    }
    await this.#underWay.get(key);
    // The message may have been sent in once more meanwhile.
    if (this.#watched.get(key)?.open.has(turn) === true) return;
    this.#served.get(`${key} ${turn}`)?.();
    this.#served.delete(`${key} ${turn}`);
  }

  /** Shows nothing more; resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#stopLooking();
    for (const { stop } of this.#watched.values()) stop();
    this.#watched.clear();
    await Promise.all(this.#underWay.values());
    for (const stop of this.#served.values()) stop();
    this.#served.clear();
  }

  #endAll(key: SessionKey, { open }: Watched): void {
    for (const turn of open) void this.end(key, turn);
  }

  /** P3 */
  #look(): void {
    const now = this.#clock.monotonic();
    const stoodStill = now - this.#lookedAt > STOOD_STILL_MS;
    this.#lookedAt = now;
    if (stoodStill) for (const [key, watched] of this.#watched) this.#endAll(key, watched);
  }

  #tidy(): void {
    const now = this.#clock.monotonic();
    for (const [key, watched] of this.#watched) {
      if (this.#watched.size <= MOST_WATCHED && now - watched.since < WATCH_LIMIT_MS) return;
      this.#endAll(key, watched);
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
    this.#look();
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
    for (;;) {
      // Of a turn before: what comes after it would hide that it is still under way.
      while (this.#underWay.has(key)) await this.#underWay.get(key);
      const next = this.#news(watched);
      if (next === undefined) break;
      watched.shown = next.text;
      this.#underWay.set(
        key,
        this.#preview({ ...where, ...next }).finally(() => this.#underWay.delete(key)),
      );
      await this.#underWay.get(key);
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
    const limit = new AbortController();
    const giveUp = (): void => limit.abort();
    const timer = setTimeout(giveUp, PREVIEW_LIMIT_MS);
    const late = new Promise<void>((resolve) =>
      limit.signal.addEventListener("abort", () => resolve(), { once: true }),
    );
    this.#stopping.signal.addEventListener("abort", giveUp, { once: true });
    try {
      await Promise.race([this.#channel.preview(preview, limit.signal), late]);
    } catch {
      // The reply will say it all.
    } finally {
      clearTimeout(timer);
      this.#stopping.signal.removeEventListener("abort", giveUp);
    }
  }
}
