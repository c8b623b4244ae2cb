import { BUCKET, digestOf, type SessionKey } from "@troupe/contracts";
import { z } from "zod";
import { bucketStream, entrySubject } from "./bucket.js";
import { type Bus, wireOf } from "./bus.js";
import { isConflict } from "./compare-and-set.js";
import { readLast } from "./stored-message.js";
import { publishOnce } from "./stored-publish.js";
import { fullOr } from "./stream-full.js";
import { headersOf } from "./wire.js";

/** What became of a client's message: the turn that answers it, and the digest of what it said. */
export interface InboundRecord {
  readonly turn: string;
  readonly digest: string;
}

/**
 * Which messages of a channel have been taken in, for a day. A record is written after MAIL has
 * acknowledged the message, and the first one stands.
 */
export interface InboundLedger {
  /** Null also for a record that cannot be read. */
  get(key: SessionKey, messageId: string): Promise<InboundRecord | null>;
  record(key: SessionKey, messageId: string, value: InboundRecord): Promise<void>;
}

const InboundEntry = z.object({ turn: z.string(), digest: z.string() });

export function inboundLedger(bus: Bus): InboundLedger {
  const wire = wireOf(bus);
  return {
    get: async (key, messageId) => {
      const found = await readLast(wire, bucketStream(BUCKET.inbound), subjectOf(key, messageId));
      return found && recordIn(found.text);
    },
    record: async (key, messageId, { turn, digest }) => {
      try {
        await publishOnce(wire, {
          subject: subjectOf(key, messageId),
          body: JSON.stringify({ turn, digest }),
          headers: headersOf({ "Nats-Expected-Last-Subject-Sequence": "0" }),
        });
      } catch (cause) {
        if (!isConflict(cause)) throw fullOr(cause, BUCKET.inbound);
      }
    },
  };
}

/** What cannot be read tells nothing: the state and MAIL know ids too. */
function recordIn(text: string): InboundRecord | null {
  try {
    return InboundEntry.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** A client's id may be any text: its digest is a token. */
function subjectOf(key: SessionKey, messageId: string): string {
  return entrySubject(BUCKET.inbound, `${key}.${digestOf(messageId)}`);
}
