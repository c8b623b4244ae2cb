import { setTimeout as delay } from "node:timers/promises";
import { BUCKET } from "@troupe/contracts";
import type { StatePort, StoredEntry, WriteOutcome } from "@troupe/kernel";
import { bucketStream, entrySubject } from "./bucket.js";
import { type Bus, wireOf } from "./bus.js";
import { isConflict } from "./compare-and-set.js";
import { readFromLeader, readLast } from "./stored-message.js";
import { publishOnce } from "./stored-publish.js";
import { fullOr, isFull } from "./stream-full.js";
import { headersOf, type Wire } from "./wire.js";
import { WireError } from "./wire-error.js";

/**
 * Session state in the bucket `sessions`, or entries of another bucket that are written by the same rules; a revision
 * is a sequence of its stream.
 *
 * K1 The compare-and-set is the server's: a write names the sequence that it believes to be the newest.
 * K4 Only an answer of the server's is an outcome; anything else rejects.
 */
export function statePort(bus: Bus, bucket: string = BUCKET.sessions): StatePort {
  const wire = wireOf(bus);
  return {
    read: (key, from) => readEntry(wire, key, from, bucket),
    write: (key, text, revision) => writeEntry(wire, bucket, { subject: entrySubject(bucket, key), text, revision }),
  };
}

/** The entry, or null when there is none. */
export async function readEntry(
  wire: Wire,
  key: string,
  from: "any" | "leader",
  bucket: string = BUCKET.sessions,
): Promise<StoredEntry | null> {
  const subject = entrySubject(bucket, key);
  const stream = bucketStream(bucket);
  const found =
    from === "any"
      ? await readLast(wire, stream, subject)
      : await readFromLeader(wire, stream, { last_by_subj: subject });
  return found && { revision: found.seq, text: found.text };
}

/** Before a write that found no room is answered. */
const FULL_PAUSE_MS = 1_000;

interface Write {
  readonly subject: string;
  readonly text: string;
  readonly revision: number;
}

async function writeEntry(wire: Wire, bucket: string, { subject, text, revision }: Write): Promise<WriteOutcome> {
  try {
    const stored = await publishOnce(wire, {
      subject,
      body: text,
      headers: headersOf({ "Nats-Expected-Last-Subject-Sequence": String(revision) }),
    });
    return { kind: "stored", revision: stored.seq };
  } catch (cause) {
    if (isConflict(cause)) return { kind: "refused" };
    if (cause instanceof WireError && cause.kind === "too-large") return { kind: "too-large" };
    // Whoever is told tries again: a crowd that waits for room must not be what the server is busy with.
    if (isFull(cause)) await delay(FULL_PAUSE_MS);
    throw fullOr(cause, bucket);
  }
}
