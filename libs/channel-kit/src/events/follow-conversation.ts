import type { SessionKey } from "@troupe/contracts";
import type { LiveSubscriber, OutboxEvent, OutboxFeed } from "@troupe/jetstream";
import { type ConversationEvent, durableEvent, liveEvent, onceFor } from "./conversation-event.js";
import { EventSequence } from "./event-sequence.js";

const decodeDurable = onceFor(durableEvent, (one, other) => one.seq === other.seq && one.text === other.text);
const decodeLive = onceFor(liveEvent, Object.is);

export interface EventSources {
  readonly outbox: Pick<OutboxFeed, "listen" | "replay" | "whole">;
  readonly live: LiveSubscriber;
  /** A stored event that this version cannot read. */
  readonly onUnread?: (event: OutboxEvent) => void;
}

export interface FollowOptions {
  /** The last durable event that the reader has had; null: it wants only what happens from now on. */
  readonly after: number | null;
  readonly onEvent: (event: ConversationEvent) => void;
  /** Awaited before each stored event: false ends the replay. */
  readonly ready?: () => Promise<boolean>;
  /** Told the length of the text that waits for the replay's end whenever it grows. */
  readonly onHeld?: (length: number) => void;
}

export interface Following {
  /** Settles when all that was stored has been passed on. */
  readonly caughtUp: Promise<void>;
  stop(): void;
}

/** Passes on a conversation's events in their order (S1–S3), from a place in the past or from now on. */
export function followConversation(sources: EventSources, key: SessionKey, options: FollowOptions): Following {
  const { outbox, live, onUnread } = sources;
  const { after, onEvent, ready, onHeld } = options;
  const sequence = new EventSequence(onEvent, after ?? 0, after !== null);
  const take = (event: ConversationEvent | undefined, { length }: string): void => {
    sequence.arrived(event, length);
    onHeld?.(sequence.heldLength);
  };
  // Listening begins before the replay: between the two nothing can slip through.
  const stops = [
    outbox.listen(key, (event) => take(decodeDurable(event), event.text)),
    live.subscribe(key, (body) => take(decodeLive(body), body)),
  ];
  const replay = async (from: number): Promise<void> => {
    for (const event of await outbox.replay(key, from)) {
      if (ready !== undefined && !(await ready())) return;
      const known = durableEvent(await outbox.whole(event));
      if (known === undefined) onUnread?.(event);
      sequence.replayed(known);
    }
    sequence.replayEnded();
  };
  return {
    caughtUp: after === null ? Promise.resolve() : replay(after),
    stop: () => {
      for (const stop of stops) stop();
    },
  };
}
