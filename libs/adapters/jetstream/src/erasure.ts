import { jetstreamManager } from "@nats-io/jetstream";
import { BLOBS, BUCKET, deadFilter, outboxSubject, type SessionKey, STREAM } from "@troupe/contracts";
import { z } from "zod";
import { bucketStream, entrySubject } from "./bucket.js";
import { type Bus, wireOf } from "./bus.js";
import { readFromLeader } from "./stored-message.js";
import { textOf, type Wire } from "./wire.js";
import { ApiError } from "./wire-error.js";

/** The stream behind the object store, and its subjects as every client of object stores lays them out. */
const BLOB_STREAM = `OBJ_${BLOBS}`;
const blobNameSubject = (name: string): string => `$O.${BLOBS}.M.${name}`;
const blobChunkSubject = (nuid: string): string => `$O.${BLOBS}.C.${nuid}`;

const BlobInfo = z.object({ nuid: z.string().min(1) });

const PurgeAnswer = z.union([
  z.object({ error: z.object({ err_code: z.number(), description: z.string().default("") }) }),
  z.object({ purged: z.number().default(0) }),
]);

/**
 * Removes what a conversation has left outside of its state: events of the outbox, records of what came in and of what
 * was delivered, dead letters, which hold what people said, sealed pieces of its log and large content. The state itself
 * is erased by a commit of its actor, before this.
 *
 * May be repeated, by anybody and at the same time. Resolves to whether there was anything, and rejects when some of it
 * may still be there.
 */
export async function forget(bus: Bus, key: SessionKey): Promise<boolean> {
  const wire = wireOf(bus);
  const removed = await Promise.all([
    purge(wire, STREAM.outbox, outboxSubject(key)),
    purge(wire, STREAM.dead, deadFilter(undefined, key)),
    purge(wire, bucketStream(BUCKET.inbound), entrySubject(BUCKET.inbound, `${key}.>`)),
    purge(wire, bucketStream(BUCKET.deliveries), entrySubject(BUCKET.deliveries, `${key}.>`)),
    purge(wire, bucketStream(BUCKET.segments), entrySubject(BUCKET.segments, `${key}.>`)),
    forgetBlobs(wire, key),
  ]);
  return removed.some((count) => count > 0);
}

async function purge(wire: Wire, stream: string, filter: string): Promise<number> {
  const reply = await wire.ask({ subject: `$JS.API.STREAM.PURGE.${stream}`, payload: JSON.stringify({ filter }) });
  const answer = PurgeAnswer.parse(JSON.parse(textOf(reply)));
  if ("error" in answer) throw new ApiError(answer.error.err_code, stream, answer.error.description);
  return answer.purged;
}

/** Names are stored as base64url, so those of one conversation cannot be selected by a subject. */
async function forgetBlobs(wire: Wire, key: SessionKey): Promise<number> {
  const jsm = await jetstreamManager(wire.nc, { checkAPI: false });
  const info = await jsm.streams.info(BLOB_STREAM, { subjects_filter: blobNameSubject(">") });
  const own = Object.keys(info.state.subjects ?? {}).filter((subject) => {
    const name = subject.slice(blobNameSubject("").length);
    return Buffer.from(name, "base64url").toString("utf8").startsWith(`${key}/`);
  });
  for (const subject of own) await forgetBlob(wire, subject);
  return own.length;
}

/** The content goes first: without its name nobody would find it to try again. */
async function forgetBlob(wire: Wire, nameSubject: string): Promise<void> {
  const stored = await readFromLeader(wire, BLOB_STREAM, { last_by_subj: nameSubject });
  if (stored === null) return;
  const { nuid } = BlobInfo.parse(JSON.parse(stored.text));
  await purge(wire, BLOB_STREAM, blobChunkSubject(nuid));
  await purge(wire, BLOB_STREAM, nameSubject);
}
