import {
  ACCEPTED_ORIGINS,
  type Channel,
  type DeadLetter,
  decode,
  decodeReply,
  digestOf,
  encode,
  isWorkSubject,
  mailSubject,
  type Origin,
  parseMailSubject,
  type SessionKey,
  SessionMail,
  sessionOfKey,
  STREAM,
  turnIdOf,
  UserMessage,
} from "@troupe/contracts";
import type { StoredLetter } from "./stored-letter.js";

/**
 * What the retry of a dead letter sends, decided from the letter alone, so that every gateway decides the same.
 *
 * D1 The id is derived from the letter's own, which is never used again, unlike a sequence of a stream that may be
 *    made anew. So the stream stores a repeated retry once, as long as its duplicate window lasts.
 * D2 The turn of dead user mail has had its one FINAL, an error, and the session may remember it: the same mail again
 *    would be ignored. Its retry is a new message with a message id and a turn of its own, derived from the letter as
 *    well: beyond the duplicate window the session knows the turn.
 * D3 Nothing is sent that would only come back or do nothing, and nothing that would do something else now than was
 *    meant then. It is refused with the reason.
 * D4 A letter can have a message sent to a subject of its own kind and session, and to no other.
 */
export type LetterRetry =
  | {
      readonly kind: "send";
      /** The stream that takes it, for the error when it is full. */
      readonly stream: string;
      readonly subject: string;
      readonly id: string;
      readonly body: string;
      readonly trace: string | undefined;
      /** The turn in which the person will be answered. */
      readonly turn: string | null;
    }
  | { readonly kind: "refuse"; readonly reason: string };

/** @param channel the channel that this process may write to as its gateway; into others it writes as an operator */
export function letterRetry({ key, content }: StoredLetter, channel: Channel | undefined): LetterRetry {
  if (content.kind === "newer") {
    return refuse(`it was written by a newer version of Troupe (schema ${content.version}), which has to retry it`);
  }
  if (content.kind === "invalid") return refuse(`the letter itself cannot be read: ${content.reason}`);
  if (key === null) return refuse("its subject names no session");
  const letter = content.message;
  if (letter.truncated === true) return refuse("it was too large, and only its beginning was kept");
  switch (letter.kind) {
    case "mail":
      return mailRetry(letter, key, channel);
    case "reply":
      return replyRetry(letter, key);
    default:
      return workRetry(letter, letter.kind, key);
  }
}

const refuse = (reason: string): LetterRetry => ({ kind: "refuse", reason });

const MISPLACED = "it names a subject that is none of its session's";

function mailRetry(letter: DeadLetter, key: SessionKey, channel: Channel | undefined): LetterRetry {
  const address = parseMailSubject(letter.subject);
  const session = sessionOfKey(key);
  if (address?.key !== key || session === undefined) return refuse(MISPLACED);
  const { origin } = address;
  if (origin === "self" || origin === "work") {
    return refuse(`mail of origin "${origin}" answers what a session waits for at the time, and is ignored later`);
  }
  const read = decode(SessionMail, letter.body);
  if (read.kind === "newer") return refuse(`the mail is of a newer version of Troupe (schema ${read.version})`);
  if (read.kind === "invalid") return refuse(`the mail cannot be read and would come back: ${read.reason}`);
  const { message } = read;
  if (message.kind !== "user") {
    return refuse(`a ${message.kind} would act on what is there now, not on what it was meant for; do it anew`);
  }
  // Held to its own channel, a gateway reaches other channels' sessions as an operator only.
  const to: Origin = channel === undefined || session.id.channel === channel ? origin : "ops";
  if (!ACCEPTED_ORIGINS.user.includes(to)) return refuse(`"user" is not accepted from "${to}"`);
  const id = retryId(letter);
  const turn = turnIdOf(key, id);
  return {
    kind: "send",
    stream: STREAM.mail,
    subject: mailSubject(address.actor, key, to),
    id,
    body: encode(UserMessage, { ...message, id, messageId: id, turn }),
    trace: message.trace,
    turn,
  };
}

/** What people are told is for their session alone to say: no reply is published that no commit of it lists (K9). */
function replyRetry({ body }: DeadLetter, key: SessionKey): LetterRetry {
  const read = decodeReply(key, body);
  if (read.kind === "invalid") return refuse(`the reply cannot be read and would come back: ${read.reason}`);
  return refuse("only the session itself may publish a reply; what it has answered stands in its history");
}

/** A task carries what it may do and until when; a job reads the newest state: both decide by themselves what is left to do. */
function workRetry(letter: DeadLetter, kind: "task" | "job", key: SessionKey): LetterRetry {
  const { subject, body } = letter;
  if (!isWorkSubject(kind, key, subject)) return refuse(MISPLACED);
  const stream = kind === "task" ? STREAM.tasks : STREAM.jobs;
  return { kind: "send", stream, subject, id: retryId(letter), body, trace: undefined, turn: null };
}

/** A letter's id may be as long as a key: its digest is short. */
const retryId = ({ id }: DeadLetter): string => `retry_${digestOf(id).slice(0, 32)}`;
