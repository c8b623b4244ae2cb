// What the streams and buckets really hold, read past the services: the entries' revisions, and the finals in OUTBOX.
import { blobNameOf, parseSessionId, turnIdOf } from "@troupe/contracts";
import { blobStore, connectBus, outboxFeed, sessionReader } from "@troupe/jetstream";
import { setTimeout as delay } from "node:timers/promises";
import { Leftovers } from "./leftovers.mjs";
import { StateLaws } from "./state-laws.mjs";

const TRY_AGAIN_MS = 200;
const PATIENCE_MS = 60_000;

export class Record {
  #bus;
  #journal;
  #sessions;
  #outbox;
  #leftovers;
  #blobs;
  /** By session name. */
  laws = new Map();

  static async open({ nats }, journal) {
    const { url, user, pass } = nats;
    const leftovers = await Leftovers.open({ nats });
    return new Record(await connectBus({ target: { url, user, pass }, name: "chaos" }), leftovers, journal);
  }

  constructor(bus, leftovers, journal) {
    this.#leftovers = leftovers;
    this.#blobs = blobStore(bus);
    this.#bus = bus;
    this.#journal = journal;
    this.#sessions = sessionReader(bus);
    this.#outbox = outboxFeed(bus);
  }

  static keyOf(session) {
    return parseSessionId(session).key;
  }

  static turnOf(session, messageId) {
    return turnIdOf(Record.keyOf(session), messageId);
  }

  /** Follows a session's revisions, each with the one before it; the result ends that. */
  watch(session, onRevision) {
    const laws = new StateLaws(session, this.#journal);
    this.laws.set(session, laws);
    return persist(() =>
      this.#sessions.watch(Record.keyOf(session), (stored) => {
        const before = laws.entry;
        laws.take(stored);
        onRevision(laws.entry, before);
      }),
    );
  }

  /** Reads the session's newest entry; null: there is none. */
  async look(session) {
    const stored = await persist(() => this.#sessions.readFresh(Record.keyOf(session)));
    if (stored === null) return null;
    const laws = this.laws.get(session);
    laws.take(stored);
    return JSON.parse(stored.text);
  }

  /** Finals of a session in the order of the stream, with their whole texts: `{ seq, id, generation, final }`. */
  async finals(session) {
    const events = await persist(() => this.#outbox.replay(Record.keyOf(session), 0));
    const whole = await Promise.all(events.map((event) => persist(() => this.#outbox.whole(event))));
    return whole.flatMap(({ seq, text }) => {
      const { id, kind, generation, final } = JSON.parse(text);
      return kind === "final" ? [{ seq, id, generation, final }] : [{ seq, id, generation, final: null }];
    });
  }

  /** Names of all that is stored for a session beside its state and its messages to people. */
  stored(session) {
    return persist(() => this.#leftovers.of(Record.keyOf(session)));
  }

  /** Of the blobs that a history names, those whose content is not what their name says. */
  async lostBlobs(session, { generation, messages }) {
    const place = { key: Record.keyOf(session), generation };
    const lost = [];
    for (const { blob } of messages) {
      if (!blob) continue;
      const text = await persist(() => this.#blobs.get(place, blob));
      if (text === undefined || blobNameOf(text) !== blob) lost.push(blob);
    }
    return lost;
  }

  /** Lets go of what is known of a session. */
  forget(session) {
    this.laws.delete(session);
  }

  get serverVersion() {
    return this.#bus.serverVersion;
  }

  async close() {
    await this.#leftovers.close();
    await this.#bus.close();
  }
}

/** The server may be down at any moment: tries again until it is back. */
async function persist(attempt) {
  const endAt = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > endAt) throw error;
      await delay(TRY_AGAIN_MS);
    }
  }
}
