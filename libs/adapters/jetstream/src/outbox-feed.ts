import { jetstreamManager } from "@nats-io/jetstream";
import { keyOfSubject, outboxSubject, type SessionKey, STREAM } from "@troupe/contracts";
import { blobStore } from "./blob-store.js";
import { type Bus, wireOf } from "./bus.js";
import { callOut } from "./call-out.js";
import { readBatch, readFromLeader } from "./stored-message.js";
import { StreamTail, type TailMessage } from "./stream-tail.js";
import { WholeEvents } from "./whole-event.js";
import type { Wire } from "./wire.js";

export interface OutboxEvent {
  /** The stream's sequence: the id of the durable event. */
  readonly seq: number;
  readonly key: SessionKey;
  /** JSON of an `OutboxMessage`. */
  readonly text: string;
}

export interface OutboxFeed {
  /** Begins with what comes from now on, and leaves nothing out until stopped. */
  start(): Promise<{ stop(): Promise<void> }>;
  /** Events of one conversation as they come, with their whole texts; registered when this returns. The result ends that. */
  listen(key: SessionKey, fn: (event: OutboxEvent) => void): () => void;
  /** Stored events of one conversation behind a sequence, in order; of large texts they hold the beginning. */
  replay(key: SessionKey, after: number): Promise<OutboxEvent[]>;
  /** Whether a message is still in the stream, by its leader. */
  exists(seq: number): Promise<boolean>;
  /** The event with its whole text. */
  whole(event: OutboxEvent): Promise<OutboxEvent>;
  /** The highest sequence of the stream that has been passed on. */
  lastSeq(): number;
  /** The highest sequence of the stream, asked of the server: other processes may have passed on more. */
  newestSeq(): Promise<number>;
}

const REPLAY_BATCH = 500;

export interface FeedOptions {
  /** Holds the feed to one channel's events. */
  readonly channel?: string;
  /** Each event as it comes, also of conversations that nobody listens to. Of a large text it holds the beginning. */
  readonly onEvent?: (event: OutboxEvent) => void;
}

/** One consumer per process, whatever the number of listeners. */
export function outboxFeed(bus: Bus, options: FeedOptions = {}): OutboxFeed {
  const wire = wireOf(bus);
  const listeners = new Map<SessionKey, Set<(event: OutboxEvent) => void>>();
  const whole = new WholeEvents(blobStore(bus));
  let last = 0;

  const pass = ({ seq, subject, text }: TailMessage): void => {
    last = seq;
    const key = keyOfSubject(subject);
    if (key === undefined) return;
    if (options.onEvent !== undefined) callOut(() => options.onEvent?.({ seq, key, text }));
    if (!listeners.has(key)) return;
    whole.pass({ seq, key, text }, (event) => {
      for (const listener of listeners.get(key) ?? []) callOut(() => listener(event));
    });
  };

  return {
    start: async () => {
      last = await lastSequence(wire);
      const filter = options.channel === undefined ? "outbox.>" : `outbox.${options.channel}.>`;
      const tail = new StreamTail(wire, { stream: STREAM.outbox, filter, after: last, onMessage: pass });
      await tail.start();
      return {
        stop: async () => {
          whole.stop();
          await tail.stop();
        },
      };
    },
    listen: (key, fn) => {
      const listener = (event: OutboxEvent): void => fn(event);
      const all = listeners.get(key) ?? new Set();
      listeners.set(key, all.add(listener));
      return () => {
        if (all.delete(listener) && all.size === 0 && listeners.get(key) === all) listeners.delete(key);
      };
    },
    replay: (key, after) => replayEvents(wire, key, after),
    exists: async (seq) => (await readFromLeader(wire, STREAM.outbox, { seq })) !== null,
    whole: (event) => whole.of(event),
    lastSeq: () => last,
    newestSeq: () => lastSequence(wire),
  };
}

async function lastSequence(wire: Wire): Promise<number> {
  const jsm = await jetstreamManager(wire.nc, { checkAPI: false });
  return (await jsm.streams.info(STREAM.outbox)).state.last_seq;
}

async function replayEvents(wire: Wire, key: SessionKey, after: number): Promise<OutboxEvent[]> {
  const events: OutboxEvent[] = [];
  const query = { stream: STREAM.outbox, subject: outboxSubject(key), limit: REPLAY_BATCH };
  for (let from = after + 1; ; ) {
    const { messages, more } = await readBatch(wire, { ...query, from });
    for (const { seq, text } of messages) events.push({ seq, key, text });
    const newest = messages.at(-1);
    if (newest === undefined || !more) return events;
    from = newest.seq + 1;
  }
}
