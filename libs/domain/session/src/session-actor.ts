import {
  ACCEPTED_ORIGINS,
  type DeadLetter,
  deadSubject,
  decode,
  mailSubject,
  type QueuedMessage,
  SCHEMA_VERSION,
  SESSION_SCHEMA,
  SessionFields,
  type SessionKey,
  SessionMail,
  timerSubject,
  type UserMessage,
} from "@troupe/contracts";
import type { Actor, DecodedMail, Input, Lane, MailItem, PublishEffect } from "@troupe/kernel";
import { Draft } from "./draft.js";
import type { SessionOutcome, SessionRun } from "./session-run.js";
import { beginTurn, endTurn, onOutcome, onResumed, type TurnRules } from "./turn-flow.js";

/** A conversation as an actor, the one of this key. Queued messages bound the state (K12); what is beyond waits in the mailbox. */
export type SessionActor = Actor<SessionFields, SessionMail, SessionRun, SessionOutcome>;
type SessionInput = Input<SessionMail, SessionRun, SessionOutcome>;

const MAX_QUEUED = 32;
const MAX_QUEUED_LENGTH = 1_000_000;

const LANES: Readonly<Record<SessionMail["kind"], Lane>> = { user: "user", cancel: "cut", reset: "cut", erase: "cut" };

export function sessionActor(key: SessionKey, rules: TurnRules): SessionActor {
  return {
    schema: SESSION_SCHEMA,
    initial: (now) => emptyFields(0, now),
    decodeFields: (value) => SessionFields.parse(value),
    decodeMail,
    full: ({ queued }) =>
      queued.length >= MAX_QUEUED || queued.reduce((sum, message) => sum + message.text.length, 0) >= MAX_QUEUED_LENGTH,
    expects: () => false,
    receive: (fields, input, now) => {
      const draft = new Draft(key, fields, now);
      receive(draft, input, rules);
      return draft.decision();
    },
    onPoison: (fields, input, reason, now) => {
      const draft = new Draft(key, fields, now);
      giveUp(draft, input, reason, rules);
      return draft.decision();
    },
    deadLetter: (item, reason) => deadMail(key, item, reason),
    timerSubject: (timer) => timerSubject("session", key, timer),
    selfSubject: () => mailSubject("session", key, "self"),
    timerBody: (body) => ({ v: SCHEMA_VERSION, kind: "timer", body }),
  };
}

function emptyFields(generation: number, now: number): SessionFields {
  return {
    generation,
    createdAt: now,
    updatedAt: now,
    messageCount: 0,
    lastConsolidated: 0,
    log: { from: 0, tail: [] },
    turn: null,
    queued: [],
    recent: [],
    controls: [],
    erased: false,
  };
}

function decodeMail(item: MailItem): DecodedMail<SessionMail> {
  const read = decode(SessionMail, item.text);
  if (read.kind !== "ok") return read;
  const { message } = read;
  if (!ACCEPTED_ORIGINS[message.kind].includes(item.origin)) {
    return { kind: "invalid", reason: `"${message.kind}" is not accepted from "${item.origin}"` };
  }
  return { kind: "ok", mail: message, lane: LANES[message.kind] };
}

function receive(draft: Draft, input: SessionInput, rules: TurnRules): void {
  switch (input.kind) {
    case "mail":
      return onMail(draft, input, rules);
    case "result":
      return onOutcome(draft, input.run.body, input.outcome, rules);
    case "resumed":
      return onResumed(
        draft,
        input.runs.map((run) => run.body),
        rules,
      );
    case "timer":
      return undefined;
  }
}

function onMail(draft: Draft, input: Extract<SessionInput, { kind: "mail" }>, rules: TurnRules): void {
  const { mail } = input;
  switch (mail.kind) {
    case "user":
      return onUserMessage(draft, mail, input, rules);
    case "cancel":
      draft.control(mail.id, draft.fields.turn?.id ?? draft.fields.queued[0]?.turn ?? null);
      return endAll(draft, rules);
    case "reset":
      return startAnew(draft, mail.id, rules, false);
    case "erase":
      return startAnew(draft, mail.id, rules, true);
  }
}

function onUserMessage(
  draft: Draft,
  mail: UserMessage,
  { cut, at }: { readonly cut: boolean; readonly at: number },
  rules: TurnRules,
): void {
  // The same client id again: it has its turn already.
  if (draft.fields.recent.some((entry) => entry.turn === mail.turn)) return;
  draft.set({ erased: false });
  draft.remember(mail);
  if (cut) return draft.end(mail.turn, { kind: "cancelled" }, mail.trace);
  const { turn, messageId, digest, text, instructions, trace } = mail;
  const message: QueuedMessage = {
    turn,
    messageId,
    digest,
    text,
    at,
    ...(instructions === undefined ? {} : { instructions }),
    ...(trace === undefined ? {} : { trace }),
  };
  if (draft.fields.turn === null) return beginTurn(draft, message, rules);
  draft.set({ queued: [...draft.fields.queued, message] });
}

/** Cancel, and the first half of a reset: the running turn and all that wait end as cancelled. */
function endAll(draft: Draft, rules: TurnRules): void {
  const { queued } = draft.fields;
  draft.set({ queued: [] });
  endTurn(draft, { kind: "cancelled" }, rules);
  for (const message of queued) draft.end(message.turn, { kind: "cancelled" }, message.trace);
}

/** A reset is a commit, never a deletion: the generation rises and old writers are refused by it. */
function startAnew(draft: Draft, id: string, rules: TurnRules, erase: boolean): void {
  const ended = draft.fields.turn?.id ?? null;
  endAll(draft, rules);
  const { generation, recent, controls } = draft.fields;
  draft.fields = { ...emptyFields(generation + 1, draft.now), controls, recent: erase ? [] : recent, erased: erase };
  draft.control(id, ended);
}

/** K11: an honest final for whoever waits, and the dead letter. */
function giveUp(draft: Draft, input: SessionInput, reason: string, rules: TurnRules): void {
  const failure = { kind: "error", code: "internal", retryable: false } as const;
  if (input.kind !== "mail") return endTurn(draft, failure, rules);
  const { mail, seq, origin, at } = input;
  draft.publish(deadMail(draft.key, { seq, origin, at, text: JSON.stringify(mail) }, reason));
  if (mail.kind !== "user") return;
  draft.remember(mail);
  draft.end(mail.turn, failure, mail.trace);
}

function deadMail(key: SessionKey, item: MailItem, reason: string): PublishEffect {
  const body: Omit<DeadLetter, "id"> = {
    v: SCHEMA_VERSION,
    kind: "mail",
    subject: mailSubject("session", key, item.origin),
    seq: item.seq,
    reason,
    body: item.text,
  };
  return { subject: deadSubject("mail", key), body };
}
