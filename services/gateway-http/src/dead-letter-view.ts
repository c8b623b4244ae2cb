import { formatSessionId, sessionOfKey } from "@troupe/contracts";
import type { LetterPage, ListedLetter, RetryOutcome } from "@troupe/jetstream";
import { isoTime } from "./session-view.js";

/** Of a list's line; the whole is shown for one letter. */
const MAX_REASON_LENGTH = 300;

/** `GET /v1/dead`: lines without what was said. */
export function letterPageView({ letters, next, total }: LetterPage) {
  const dead = letters.map((letter) => {
    const { refusal, ...item } = letterItem(letter);
    return { ...item, reason: shortened(item.reason), retryable: refusal === null };
  });
  return { dead, next: next === null ? null : String(next), total };
}

/** `GET /v1/dead/{id}`: the body too; of a letter that cannot be read, all of it. */
export function letterView(letter: ListedLetter) {
  const { content, text } = letter;
  const { refusal, ...item } = letterItem(letter);
  const truncated = content.kind === "ok" && content.message.truncated === true;
  const body = content.kind === "ok" ? content.message.body : text;
  return { ...item, retryable: refusal === null, refusal, truncated, body };
}

/** `POST /v1/dead/{id}/retry`, of what was not refused. */
export function retryView(outcome: Exclude<RetryOutcome, { kind: "refused" }>) {
  const { seq, kind, key } = outcome.letter;
  const head = { id: String(seq), kind, session: sessionName(key), outcome: outcome.kind };
  if (outcome.kind === "waiting") return { ...head, turn: null, duplicate: false };
  return { ...head, turn: outcome.turn, duplicate: outcome.duplicate };
}

function letterItem({ seq, at, kind, key, content, text, refusal }: ListedLetter) {
  const letter = content.kind === "ok" ? content.message : null;
  return {
    id: String(seq),
    kind,
    session: sessionName(key),
    at: isoTime(at),
    /** Whether the letter itself could be read. */
    state: content.kind === "invalid" ? "unreadable" : content.kind,
    reason: reasonOf(content),
    /** Where it came from, and its sequence there. */
    subject: letter?.subject ?? null,
    seq: letter?.seq ?? null,
    size: Buffer.byteLength(letter?.body ?? text),
    refusal,
  };
}

function reasonOf(content: ListedLetter["content"]): string {
  switch (content.kind) {
    case "ok":
      return content.message.reason;
    case "newer":
      return `a letter of a newer version of Troupe (schema ${content.version})`;
    case "invalid":
      return `a letter that cannot be read: ${content.reason}`;
  }
}

/** Null when no session has such a name: then nobody could have written to it by a gateway. */
function sessionName(key: ListedLetter["key"]): string | null {
  const session = key === null ? undefined : sessionOfKey(key);
  return session === undefined ? null : formatSessionId(session.id);
}

function shortened(text: string): string {
  return text.length <= MAX_REASON_LENGTH ? text : `${text.slice(0, MAX_REASON_LENGTH - 1).toWellFormed()}…`;
}
