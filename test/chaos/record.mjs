// What the streams and buckets really hold, read past the services: the entries' revisions, and the finals in OUTBOX.
import { blobNameOf, deliveryIdOf, parseSessionId, turnIdOf } from "@troupe/contracts";
import { blobStore, connectBus, deliveryLedger, outboxFeed, sessionReader } from "@troupe/jetstream";
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
  #deliveries;
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
    this.#deliveries = deliveryLedger(bus);
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

  /**
   * A session's messages to people in the order of the stream, with their whole texts: `{ seq, id, generation, final,
   * turn, delivery, shows }`; `final` is null for what is none, `delivery` the ledger's id, `shows` what a person is to
   * see of it, null for nothing.
   */
  async finals(session) {
    const events = await persist(() => this.#outbox.replay(Record.keyOf(session), 0));
    const whole = await Promise.all(events.map((event) => persist(() => this.#outbox.whole(event))));
    return whole.map(({ seq, text }) => {
      const message = JSON.parse(text);
      const { id, generation, final = null, notice } = message;
      const isSilent = final?.kind === "merged" || final?.text === "";
      const { turn } = final ?? notice;
      const shows = isSilent ? null : (final ?? notice).text;
      return { seq, id, generation, final, turn, delivery: deliveryIdOf(message), shows };
    });
  }

  /** What the delivery ledger says of a session's replies, by their ids there. */
  async deliveries(session) {
    const { deliveries } = await this.stored(session);
    const key = Record.keyOf(session);
    const read = async (id) => [id, await persist(() => this.#deliveries.read({ key, id }))];
    const found = await Promise.all(deliveries.map(read));
    return new Map(found.filter(([, record]) => record !== null).map(([id, { text }]) => [id, JSON.parse(text)]));
  }

  /** What is still to be delivered of a session, or to be removed from the ledger, as text. */
  async undelivered(session) {
    const outbox = await this.finals(session);
    const records = await this.deliveries(session);
    const known = new Set(outbox.map(({ delivery }) => delivery));
    const open = outbox.filter(({ shows, delivery }) => shows !== null && isOpen(records.get(delivery)));
    return [
      ...open.map(({ delivery }) => `${delivery} is ${records.get(delivery)?.status ?? "not begun"}`),
      ...[...records]
        .filter(([id]) => !known.has(id))
        .map(([id, { status, reason, seq }]) => `${id} is of no reply: ${status}, of ${seq}, ${reason}`),
    ];
  }

  /** Whether a turn has its final, and nothing of it will be shown any more. */
  async isDelivered(session, turn) {
    const finals = (await this.finals(session)).filter(({ final }) => final?.turn === turn);
    const records = await this.deliveries(session);
    return finals.length > 0 && finals.every(({ shows, delivery }) => shows === null || !isOpen(records.get(delivery)));
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

/** A reply that was not sent, or may be sent again. */
const isOpen = (record) => record === undefined || record.status === "sending" || record.status === "waiting";

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
