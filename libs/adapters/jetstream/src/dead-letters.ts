import { type Channel, deadFilter, type DeadKind, HEADER, type SessionKey, STREAM } from "@troupe/contracts";
import { type Bus, wireOf } from "./bus.js";
import { readPage } from "./letter-page.js";
import { type LetterRetry, letterRetry } from "./letter-retry.js";
import { refusalOf } from "./mail-sender.js";
import { isOneWaiting } from "./publish-port.js";
import { removeMessage } from "./remove-message.js";
import { readFromLeader } from "./stored-message.js";
import { type StoredLetter, storedLetter } from "./stored-letter.js";
import { publishSurely } from "./stored-publish.js";
import { headersOf } from "./wire.js";

export interface LetterQuery {
  readonly kind?: DeadKind | undefined;
  readonly session?: SessionKey | undefined;
  /** As `next` of the page before gave it. */
  readonly cursor?: number | undefined;
  readonly limit: number;
}

export interface ListedLetter extends StoredLetter {
  /** Why a retry would be refused; null: it can be retried. */
  readonly refusal: string | null;
}

export interface LetterPage {
  /** The newest first. */
  readonly letters: readonly ListedLetter[];
  readonly next: number | null;
  /** Letters of the query, on all pages. */
  readonly total: number;
}

/** What a retry did. But for `refused`, the letter is gone afterwards. */
export type RetryOutcome =
  /** `duplicate`: an earlier retry of this letter had sent it. `turn`: the turn that answers, for mail of a person. */
  | {
      readonly kind: "sent";
      readonly letter: StoredLetter;
      readonly turn: string | null;
      readonly duplicate: boolean;
    }
  /** A job of its subject waits already, and does what this one would. */
  | { readonly kind: "waiting"; readonly letter: StoredLetter }
  | { readonly kind: "refused"; readonly letter: StoredLetter; readonly reason: string };

/**
 * What was given up on, for operators.
 *
 * A retry is sent first and removed from DEAD when the stream has acknowledged it: a process that dies in between leaves
 * the letter, and the next retry of it is a duplicate. See `letter-retry.ts` for what is sent.
 */
export interface DeadLetters {
  list(query: LetterQuery): Promise<LetterPage>;
  get(seq: number): Promise<ListedLetter | null>;
  /** Null when there is no such letter. Rejects with `StreamFull`, `Unavailable` or `TooLarge`: the letter stays. */
  retry(seq: number): Promise<RetryOutcome | null>;
  /** Whether it was there. */
  drop(seq: number): Promise<boolean>;
}

/** @param options `channel`: the one this process is the gateway of, if it may write as people into no other */
export function deadLetters(bus: Bus, { channel }: { readonly channel?: Channel } = {}): DeadLetters {
  const wire = wireOf(bus);
  const find = async (seq: number): Promise<StoredLetter | null> => {
    const stored = await readFromLeader(wire, STREAM.dead, { seq });
    return stored === null ? null : storedLetter(stored);
  };
  const listed = (letter: StoredLetter): ListedLetter => {
    const retry = letterRetry(letter, channel);
    return { ...letter, refusal: retry.kind === "refuse" ? retry.reason : null };
  };
  return {
    list: async ({ kind, session, cursor, limit }) => {
      const filter = deadFilter(kind, session);
      const { messages, next, total } = await readPage(wire, { filter, before: cursor, limit });
      return { letters: messages.map((message) => listed(storedLetter(message))), next, total };
    },
    get: async (seq) => {
      const letter = await find(seq);
      return letter && listed(letter);
    },
    retry: async (seq) => {
      const letter = await find(seq);
      if (letter === null) return null;
      const retry = letterRetry(letter, channel);
      if (retry.kind === "refuse") return { kind: "refused", letter, reason: retry.reason };
      const sent = await send(bus, retry);
      await removeMessage(wire, STREAM.dead, seq);
      return sent === "waiting" ? { kind: "waiting", letter } : { kind: "sent", letter, turn: retry.turn, ...sent };
    },
    drop: (seq) => removeMessage(wire, STREAM.dead, seq),
  };
}

async function send(
  bus: Bus,
  { stream, subject, body, id, trace }: Extract<LetterRetry, { kind: "send" }>,
): Promise<"waiting" | { readonly duplicate: boolean }> {
  const headers = headersOf({ [HEADER.msgId]: id, [HEADER.trace]: trace });
  try {
    const { duplicate } = await publishSurely(wireOf(bus), { subject, body, headers });
    return { duplicate };
  } catch (cause) {
    if (isOneWaiting(cause)) return "waiting";
    throw refusalOf(cause, bus, stream);
  }
}
