import { jetstreamManager } from "@nats-io/jetstream";
import { BUCKET } from "@troupe/contracts";
import { z } from "zod";
import { BLOB_STREAM, blobSubject } from "./blob-store.js";
import { bucketStream, entrySubject } from "./bucket.js";
import { purge } from "./purge.js";
import { readEntry } from "./state-port.js";
import type { Wire } from "./wire.js";

/**
 * What conversations have stored beside their state, by generation: sealed pieces and large texts. What is of an older
 * generation than the state's is named by nothing, and nothing will name it again: it may be removed at any time. What
 * is of the present one may be about to be named, and stays.
 */
const PLACES = [
  { stream: bucketStream(BUCKET.segments), subject: (name: string) => entrySubject(BUCKET.segments, name) },
  { stream: BLOB_STREAM, subject: blobSubject },
] as const;

/** Of this key, or of all. Asks for names only. */
async function storedGenerations(wire: Wire, { stream, subject }: (typeof PLACES)[number], key?: string) {
  const jsm = await jetstreamManager(wire.nc, { checkAPI: false });
  const info = await jsm.streams.info(stream, { subjects_filter: subject(key === undefined ? ">" : `${key}.>`) });
  const found = new Map<string, Set<number>>();
  for (const name of Object.keys(info.state.subjects ?? {})) {
    const [channel, conversation, generation] = name.slice(subject("").length).split(".");
    const owner = `${channel}.${conversation}`;
    found.set(owner, (found.get(owner) ?? new Set()).add(Number(generation)));
  }
  return found;
}

/** Removes what is left of older generations, of this key or of all; resolves to how many messages that were. */
export async function removeOlderGenerations(wire: Wire, key?: string): Promise<number> {
  let removed = 0;
  for (const place of PLACES) {
    for (const [owner, generations] of await storedGenerations(wire, place, key)) {
      const present = await generationOf(wire, owner);
      for (const generation of generations) {
        if (generation >= present) continue;
        removed += await purge(wire, place.stream, place.subject(`${owner}.${generation}.>`));
      }
    }
  }
  return removed;
}

const Entry = z.object({ fields: z.object({ generation: z.number() }) });

/** Without a state there is none that could be older. */
async function generationOf(wire: Wire, key: string): Promise<number> {
  const stored = await readEntry(wire, key, "leader");
  return stored === null ? 0 : Entry.parse(JSON.parse(stored.text)).fields.generation;
}
