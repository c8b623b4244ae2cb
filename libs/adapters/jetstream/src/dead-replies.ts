import {
  DeadLetter,
  deadSubject,
  decodeReply,
  digestOf,
  encode,
  HEADER,
  keyOfSubject,
  SCHEMA_VERSION,
  type SessionKey,
  STREAM,
} from "@troupe/contracts";
import { type Bus, wireOf } from "./bus.js";
import { removeMessage } from "./remove-message.js";
import { readFromLeader, type StoredMessage } from "./stored-message.js";
import { publishSurely } from "./stored-publish.js";
import { headersOf } from "./wire.js";

export interface BuriedReply {
  readonly key: SessionKey;
  readonly reason: string;
}

/**
 * Messages in OUTBOX that nobody can read, moved to DEAD.
 *
 * R1 First the letter is acknowledged, then the message is removed: nothing is lost when a process dies in between, and
 *    whoever comes later finds the message gone, however late.
 * R2 The letter's id is made from the message, so that those who see it at the same time store one letter.
 * R3 What is moved is what the stream's leader has there now, judged anew. What can be read, or could be by a newer
 *    version, stays.
 */
export interface DeadReplies {
  /** Null: there was nothing to move, or another process has moved it. Rejects when it may still be there. */
  bury(seq: number): Promise<BuriedReply | null>;
}

export function deadReplies(bus: Bus): DeadReplies {
  const wire = wireOf(bus);
  return {
    bury: async (seq) => {
      const stored = await readFromLeader(wire, STREAM.outbox, { seq });
      const key = stored === null ? undefined : keyOfSubject(stored.subject);
      if (stored === null || key === undefined) return null;
      const read = decodeReply(key, stored.text);
      if (read.kind !== "invalid") return null;
      const letter = letterOf(stored, read.reason);
      const headers = headersOf({ [HEADER.msgId]: letter.id });
      const body = encode(DeadLetter, letter);
      const { duplicate } = await publishSurely(wire, { subject: deadSubject("reply", key), body, headers });
      await removeMessage(wire, STREAM.outbox, seq);
      return duplicate ? null : { key, reason: letter.reason };
    },
  };
}

/** R2: a stream that was made anew counts from 1 again, so the sequence alone does not name a message. */
function letterOf({ seq, subject, at, text }: StoredMessage, reason: string): DeadLetter {
  const isWhole = Buffer.byteLength(JSON.stringify(text)) <= MOST_BODY_BYTES;
  const kept = isWhole ? text : text.slice(0, MOST_BODY_BYTES / MOST_JSON_BYTES).toWellFormed();
  return {
    v: SCHEMA_VERSION,
    id: `reply_${digestOf(JSON.stringify([subject, seq, at, text])).slice(0, 32)}`,
    kind: "reply",
    subject,
    seq,
    reason: isWhole ? reason : `${reason} (kept: ${kept.length} of ${text.length} characters)`,
    body: kept,
    ...(isWhole ? {} : { truncated: true }),
  };
}

/** A letter is for a person to look at, and has to fit into a message whatever characters it holds. */
const MOST_BODY_BYTES = 192 * 1024;
/** Of one UTF-16 unit in JSON. */
const MOST_JSON_BYTES = 6;
