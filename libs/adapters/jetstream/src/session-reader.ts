import { jetstreamManager } from "@nats-io/jetstream";
import { BUCKET, type SessionKey } from "@troupe/contracts";
import type { StoredEntry } from "@troupe/kernel";
import { bucketStream, entrySubject, keyOfEntry } from "./bucket.js";
import { type Bus, wireOf } from "./bus.js";
import { callOut } from "./call-out.js";
import { readEntry } from "./state-port.js";
import { StreamTail } from "./stream-tail.js";
import type { Wire } from "./wire.js";

export interface KeyQuery {
  /** One channel's keys, or all. */
  readonly channel?: string;
  /** Keys behind this one, in key order. */
  readonly after?: string;
  readonly limit: number;
}

/** The bucket `sessions` for those who only read. */
export interface SessionReader {
  /** May lag behind. */
  read(key: SessionKey): Promise<StoredEntry | null>;
  /** Through the leader: sees the last write. */
  readFresh(key: SessionKey): Promise<StoredEntry | null>;
  /** Calls back with the present entry, if there is one, and then with each new revision; the result ends that. */
  watch(key: SessionKey, fn: (entry: StoredEntry) => void): Promise<() => void>;
  keys(query: KeyQuery): Promise<string[]>;
}

const STREAM = bucketStream(BUCKET.sessions);

export function sessionReader(bus: Bus): SessionReader {
  const wire = wireOf(bus);
  return {
    read: (key) => readEntry(wire, key, "any"),
    readFresh: (key) => readEntry(wire, key, "leader"),
    watch: (key, fn) => watchEntry(wire, key, fn),
    keys: (query) => listKeys(wire, query),
  };
}

async function watchEntry(wire: Wire, key: SessionKey, fn: (entry: StoredEntry) => void): Promise<() => void> {
  const tail = new StreamTail(wire, {
    stream: STREAM,
    filter: entrySubject(BUCKET.sessions, key),
    after: "last",
    onMessage: ({ seq, text }) => callOut(() => fn({ revision: seq, text })),
  });
  await tail.start();
  return () => void tail.stop();
}

/** From the names of the bucket's subjects: no entry is read. */
async function listKeys(wire: Wire, { channel, after, limit }: KeyQuery): Promise<string[]> {
  const jsm = await jetstreamManager(wire.nc, { checkAPI: false });
  const filter = entrySubject(BUCKET.sessions, channel === undefined ? ">" : `${channel}.>`);
  const info = await jsm.streams.info(STREAM, { subjects_filter: filter });
  const keys = Object.keys(info.state.subjects ?? {})
    .map((subject) => keyOfEntry(BUCKET.sessions, subject))
    .filter((key) => after === undefined || key > after);
  return keys.sort().slice(0, limit);
}
