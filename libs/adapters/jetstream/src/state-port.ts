import { BUCKET } from "@troupe/contracts";
import type { StatePort, StoredEntry, WriteOutcome } from "@troupe/kernel";
import { bucketStream, entrySubject } from "./bucket.js";
import { type Bus, wireOf } from "./bus.js";
import { isConflict } from "./compare-and-set.js";
import { readFromLeader, readLast } from "./stored-message.js";
import { publishOnce } from "./stored-publish.js";
import { headersOf, type Wire } from "./wire.js";
import { WireError } from "./wire-error.js";

/**
 * Session state in the bucket `sessions`; a revision is a sequence of its stream.
 *
 * K1 The compare-and-set is the server's: a write names the sequence that it believes to be the newest.
 * K4 Only an answer of the server's is an outcome; anything else rejects.
 */
const STREAM = bucketStream(BUCKET.sessions);

export function statePort(bus: Bus): StatePort {
  const wire = wireOf(bus);
  return {
    read: (key, from) => readEntry(wire, key, from),
    write: (key, text, revision) => writeEntry(wire, { key, text, revision }),
  };
}

/** The entry, or null when there is none. */
export async function readEntry(wire: Wire, key: string, from: "any" | "leader"): Promise<StoredEntry | null> {
  const subject = entrySubject(BUCKET.sessions, key);
  const found =
    from === "any"
      ? await readLast(wire, STREAM, subject)
      : await readFromLeader(wire, STREAM, { last_by_subj: subject });
  return found && { revision: found.seq, text: found.text };
}

interface Write {
  readonly key: string;
  readonly text: string;
  readonly revision: number;
}

async function writeEntry(wire: Wire, { key, text, revision }: Write): Promise<WriteOutcome> {
  try {
    const stored = await publishOnce(wire, {
      subject: entrySubject(BUCKET.sessions, key),
      body: text,
      headers: headersOf({ "Nats-Expected-Last-Subject-Sequence": String(revision) }),
    });
    return { kind: "stored", revision: stored.seq };
  } catch (cause) {
    if (isConflict(cause)) return { kind: "refused" };
    if (cause instanceof WireError && cause.kind === "too-large") return { kind: "too-large" };
    throw cause;
  }
}
