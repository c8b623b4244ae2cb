import { jetstreamManager } from "@nats-io/jetstream";
import { BUCKET, outboxSubject, type SessionKey, STREAM } from "@troupe/contracts";
import { z } from "zod";
import { BLOB_STREAM, blobSubject } from "./blob-store.js";
import { bucketStream, entrySubject } from "./bucket.js";
import { purge } from "./purge.js";
import { readEntry } from "./state-port.js";
import { readFromLeader } from "./stored-message.js";
import type { Wire } from "./wire.js";

/**
 * What conversations have stored beside their state, by generation: sealed pieces and large texts. What is of the
 * state's own generation may be about to be named, and stays.
 *
 * G1 Of an older one no piece is named by anything, and none will be again.
 * G2 Its texts are named by replies: those that the state has yet to publish, and those in OUTBOX, where slow channels
 *    and readers that come back find them. Both are in the order of their generations. No age tells that a text is not
 *    needed: a reply may name one that was stored long before it.
 */
const SEGMENTS = {
  stream: bucketStream(BUCKET.segments),
  subject: (name: string) => entrySubject(BUCKET.segments, name),
};
const TEXTS = { stream: BLOB_STREAM, subject: blobSubject };
type Place = typeof TEXTS;

/** Of this key, or of all. Asks for names only. */
async function storedGenerations(wire: Wire, { stream, subject }: Place, key?: string) {
  const jsm = await jetstreamManager(wire.nc, { checkAPI: false });
  const info = await jsm.streams.info(stream, { subjects_filter: subject(key === undefined ? ">" : `${key}.>`) });
  const found = new Map<SessionKey, Set<number>>();
  for (const name of Object.keys(info.state.subjects ?? {})) {
    const [channel, conversation, generation] = name.slice(subject("").length).split(".");
    const owner = `${channel}.${conversation}` as SessionKey;
    found.set(owner, (found.get(owner) ?? new Set()).add(Number(generation)));
  }
  return found;
}

/** Removes what a conversation that was erased has left: its replies go too. Resolves to the number of messages. */
export async function removeOlderGenerations(wire: Wire, key: string): Promise<number> {
  const before = async (owner: SessionKey) => (await stateOf(wire, owner)).generation;
  return (await removeBefore(wire, SEGMENTS, { key, before })) + (await removeBefore(wire, TEXTS, { key, before }));
}

/** Removes what nothing names any more, of all conversations; resolves to the number of messages. */
export async function removeUnnamed(wire: Wire): Promise<number> {
  const present = async (owner: SessionKey) => (await stateOf(wire, owner)).generation;
  const named = (owner: SessionKey) => firstNamed(wire, owner);
  return (
    (await removeBefore(wire, SEGMENTS, { before: present })) + (await removeBefore(wire, TEXTS, { before: named }))
  );
}

interface Removal {
  /** Of this one, or of all. */
  readonly key?: string;
  /** The first generation of a conversation that stays. */
  readonly before: (key: SessionKey) => Promise<number>;
}

async function removeBefore(wire: Wire, place: Place, { key, before }: Removal): Promise<number> {
  let removed = 0;
  for (const [owner, generations] of await storedGenerations(wire, place, key)) {
    const first = await before(owner);
    for (const generation of generations) {
      if (generation >= first) continue;
      removed += await purge(wire, place.stream, place.subject(`${owner}.${generation}.>`));
    }
  }
  return removed;
}

/** G2: the state is read first, for what it lists no more is in OUTBOX by then. */
async function firstNamed(wire: Wire, key: SessionKey): Promise<number> {
  const { generation, listed } = await stateOf(wire, key);
  const query = { seq: 1, next_by_subj: outboxSubject(key) };
  const oldest = await readFromLeader(wire, STREAM.outbox, query);
  const published = oldest === null ? [] : [readAs(Reply, oldest.text)?.generation ?? 0];
  return Math.min(generation, ...listed, ...published);
}

/** Undefined for what cannot be read: one conversation that is damaged must not keep the others from being swept. */
function readAs<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

const Reply = z.object({ generation: z.number() });
const Entry = z.object({
  fields: z.object({ generation: z.number() }),
  outstanding: z.array(z.object({ body: z.unknown() })),
});

/**
 * Its generation, and those of the replies that it has yet to publish. Without a state there is none that could be
 * older; of one that cannot be read all stays.
 */
async function stateOf(wire: Wire, key: string): Promise<{ generation: number; listed: number[] }> {
  const stored = await readEntry(wire, key, "leader");
  if (stored === null) return { generation: 0, listed: [] };
  const entry = readAs(Entry, stored.text);
  if (entry === undefined) return { generation: 0, listed: [] };
  const { fields, outstanding } = entry;
  const listed = outstanding.flatMap(({ body }) => Reply.safeParse(body).data?.generation ?? []);
  return { generation: fields.generation, listed };
}
