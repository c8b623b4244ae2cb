import { createHash } from "node:crypto";
import {
  decode,
  encode,
  type Final,
  mailSubject,
  type Origin,
  SCHEMA_VERSION,
  type SessionEntry,
  type SessionKey,
  turnIdOf,
  UserMessage,
} from "@troupe/contracts";
import type { InboundLedger, MailSender, SessionReader } from "@troupe/jetstream";
import type { Logger } from "@troupe/platform";
import type { Admission } from "./admission.js";
import { type FinalSources, lookUpFinal } from "./final-lookup.js";
import { IntakeRefusal } from "./intake-refusal.js";
import { readEntry } from "./read-entry.js";

/**
 * Takes people's messages in, each once.
 *
 * I1 The same id in the same session is the same message: it gets the same turn, never a second one.
 *    The same id with another content is a conflict.
 * I2 What was sent before is looked up in the ledger and in the state; two that race are told apart by MAIL itself.
 * I3 The ledger is written after MAIL has acknowledged: the other way round, a gateway that dies in
 *    between would make the message's retry a duplicate of nothing.
 * I4 MAIL knows an id for minutes after its session was erased. What MAIL alone has seen, and nobody knows what
 *    became of, is sent once more under an id that continues the first: all who find that out take the same one.
 */
export interface IncomingMessage {
  readonly session: { readonly key: SessionKey };
  readonly origin: Origin;
  readonly messageId: string;
  /** Whether a client may send this id again. An id made here for one request is never seen twice. */
  readonly repeatable: boolean;
  readonly text: string;
  readonly instructions?: string | undefined;
  /** Whether the answer may carry the agent's introduction. */
  readonly introduce: boolean;
  readonly principal: string;
  readonly traceparent: string;
}

export interface AcceptedMessage {
  readonly turn: string;
  readonly duplicate: boolean;
  /** Of a duplicate whose turn is done. */
  readonly final: Final | null;
}

interface Ports extends FinalSources {
  /** Asked before a message is sent that was not sent before. */
  readonly admission: Pick<Admission, "check">;
  readonly mail: MailSender;
  readonly ledger: InboundLedger;
  readonly sessions: SessionReader;
  readonly log: Logger;
}

interface Earlier {
  readonly digest: string;
  readonly entry: SessionEntry | null;
}

export class MessageInbox {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** @throws IntakeRefusal for a known id with another content; StreamFull and other errors of the mail sender */
  async accept(message: IncomingMessage): Promise<AcceptedMessage> {
    const { session, messageId, repeatable } = message;
    const turn = turnIdOf(session.key, messageId);
    const digest = contentDigest(message);
    if (repeatable) {
      // Most messages are new ones: only of a repeated one the state is asked of the leader, because a state that
      // lags shows a turn as open whose final has been told already.
      const seen = await this.#findEarlier(session, messageId, "read");
      const earlier = seen === null ? null : await this.#findEarlier(session, messageId, "readFresh");
      if (earlier !== null) return this.#repeated(session, turn, digest, earlier);
    }
    this.#ports.admission.check(message);
    const first = `${session.key}:${turn}`;
    for (let id = first; ; ) {
      const sent = await this.#send(message, { id, turn, digest });
      if (!sent.duplicate) break;
      const earlier = await this.#findRaced(message, sent.seq);
      if (earlier !== null) return this.#repeated(session, turn, digest, earlier);
      id = `${first}:${sent.seq}`;
    }
    if (repeatable) await this.#record(message, turn, digest);
    return { turn, duplicate: false, final: null };
  }

  async #send(message: IncomingMessage, { id, turn, digest }: Record<"id" | "turn" | "digest", string>) {
    const { session, messageId, text, instructions, introduce, principal, traceparent } = message;
    const body = encode(UserMessage, {
      v: SCHEMA_VERSION,
      id,
      kind: "user",
      turn,
      messageId,
      digest,
      text,
      principal,
      ...(instructions === undefined ? {} : { instructions }),
      introduce,
      trace: traceparent,
    });
    const subject = mailSubject("session", session.key, message.origin);
    return this.#ports.mail.send({ subject, id, body, trace: traceparent });
  }

  /** I2, the first line: what came in at any time of the last day. */
  async #findEarlier(
    { key }: IncomingMessage["session"],
    messageId: string,
    how: "read" | "readFresh",
  ): Promise<Earlier | null> {
    const { ledger, sessions } = this.#ports;
    const [recorded, stored] = await Promise.all([ledger.get(key, messageId), sessions[how](key)]);
    // A state that knows the id holds its JSON: nearly always it does not, and need not be parsed.
    if (recorded === null && stored?.text.includes(JSON.stringify(messageId)) !== true) return null;
    const read = stored === null ? null : readEntry(stored.text);
    const entry = read?.kind === "ok" ? read.entry : null;
    const known = recorded ?? (entry === null ? undefined : knownMessage(entry, messageId));
    return known === undefined ? null : { digest: known.digest, entry };
  }

  /** I2, the second line: MAIL has seen the id, moments ago; it may have been handled since. */
  async #findRaced({ session: { key }, messageId, origin }: IncomingMessage, seq: number): Promise<Earlier | null> {
    const { mail, ledger, sessions } = this.#ports;
    const body = await mail.bodyAt(seq);
    const waiting = body === undefined ? undefined : decode(UserMessage, body);
    const [recorded, stored] = await Promise.all([ledger.get(key, messageId), sessions.readFresh(key)]);
    // What is known and what is handled is told by one and the same entry: a later one might have handled it since.
    const read = stored === null ? null : readEntry(stored.text);
    const entry = read?.kind === "ok" ? read.entry : null;
    const known = recorded ?? (entry === null ? undefined : knownMessage(entry, messageId));
    if (known !== undefined) return { digest: known.digest, entry };
    if (waiting?.kind !== "ok" || waiting.message.messageId !== messageId) return null;
    // I4 Handled and not known any more, it is of before an erasure: its bell only rings until somebody acks it.
    const handledTo = origin === "ops" ? entry?.cursors.ops : entry?.cursors.user;
    return seq <= (handledTo ?? 0) ? null : { digest: waiting.message.digest, entry: null };
  }

  async #repeated(
    session: IncomingMessage["session"],
    turn: string,
    digest: string,
    earlier: Earlier,
  ): Promise<AcceptedMessage> {
    if (earlier.digest !== digest) {
      throw new IntakeRefusal(
        "id_conflict",
        "another message was already sent under this id; take a new id for a new message",
      );
    }
    const final = await lookUpFinal(this.#ports, session, turn, earlier.entry);
    return { turn, duplicate: true, final };
  }

  async #record(message: IncomingMessage, turn: string, digest: string): Promise<void> {
    try {
      await this.#ports.ledger.record(message.session.key, message.messageId, { turn, digest });
    } catch (err) {
      // The message is in MAIL: to answer with an error would deny what will be done. The state remembers the id too.
      this.#ports.log.warn({ err, turn }, "a message was accepted but not recorded in the ledger");
    }
  }
}

function knownMessage({ fields: { recent, queued, steered } }: SessionEntry, messageId: string) {
  const known = (one: { readonly messageId: string }): boolean => one.messageId === messageId;
  return recent.find(known) ?? queued.find(known) ?? steered.find(known);
}

/** What makes two messages of one id the same: text and instructions. SHA-256, hex, as `digestOf` gives it. */
export function contentDigest(message: { readonly text: string; readonly instructions?: string | undefined }): string {
  const content = JSON.stringify([message.text, message.instructions ?? null]);
  return createHash("sha256").update(content).digest("hex");
}
