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
import { isLongerInJson, MOST_JSON_BYTES, repair } from "@troupe/history";
import { Draft } from "./draft.js";
import { offload } from "./offload.js";
import { openCalls } from "./open-calls.js";
import { seal } from "./seal.js";
import type { SessionOutcome, SessionRun } from "./session-run.js";
import { SUMMARISE, TurnFlow } from "./turn-flow.js";
import type { TurnRules } from "./turn-rules.js";

/** A conversation as an actor, the one of this key. Queued messages bound the state (K12); what is beyond waits in the mailbox. */
export type SessionActor = Actor<SessionFields, SessionMail, SessionRun, SessionOutcome>;
type SessionInput = Input<SessionMail, SessionRun, SessionOutcome>;

const MAX_WAITING = 32;

const LANES: Readonly<Record<SessionMail["kind"], Lane>> = { user: "user", cancel: "cut", reset: "cut", erase: "cut" };

export function sessionActor(key: SessionKey, rules: TurnRules): SessionActor {
  return {
    schema: SESSION_SCHEMA,
    initial: (now) => emptyFields(0, now),
    decodeFields,
    decodeMail,
    full: isFull,
    seal: (fields) => seal(key, fields),
    offload: (weight) => offload(key, weight),
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
    lastWord: (fields, input, now) => {
      const draft = new Draft(key, fields, now);
      endWithFailure(draft, input, rules);
      return draft.decision();
    },
    deadLetter: (item, reason) => deadMail(key, item, reason),
    timerSubject: (timer) => timerSubject("session", key, timer),
    selfSubject: () => mailSubject("session", key, "self"),
    timerBody: (body) => ({ v: SCHEMA_VERSION, kind: "timer", body }),
  };
}

/** What is large of them lies in blobs, so their number bounds what they take. */
function isFull({ queued, steered }: SessionFields): boolean {
  return queued.length + steered.length >= MAX_WAITING;
}

function emptyFields(generation: number, now: number): SessionFields {
  return {
    generation,
    createdAt: now,
    updatedAt: now,
    messageCount: 0,
    lastConsolidated: 0,
    log: { segments: [], from: 0, tail: [] },
    turn: null,
    queued: [],
    steered: [],
    introduced: false,
    summary: null,
    summarising: false,
    recent: [],
    controls: [],
    erased: false,
  };
}

/** A damaged history is repaired as it is loaded; calls of the running turn may still be open. */
function decodeFields(value: unknown): SessionFields {
  const fields = SessionFields.parse(value);
  const pending = new Set(fields.turn === null ? [] : openCalls(fields));
  const tail = repair(fields.log.tail, pending);
  if (tail === fields.log.tail) return fields;
  return { ...fields, log: { ...fields.log, tail: [...tail] }, messageCount: fields.log.from + tail.length };
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
  const flow = new TurnFlow(draft, rules);
  switch (input.kind) {
    case "mail":
      return onMail({ draft, flow, rules }, input);
    case "result":
      return flow.onOutcome(input.run.body, input.outcome);
    case "resumed":
      return flow.onResumed(input.runs.map((run) => run.body));
    case "timer":
      return undefined;
  }
}

interface Handling {
  readonly draft: Draft;
  readonly flow: TurnFlow;
  readonly rules: TurnRules;
}

type MailInput = Extract<SessionInput, { kind: "mail" }>;

function onMail(handling: Handling, input: MailInput): void {
  const { draft } = handling;
  const { mail } = input;
  switch (mail.kind) {
    case "user":
      return onUserMessage(handling, mail, input);
    case "cancel":
      draft.control(mail.id, draft.fields.turn?.id ?? null);
      return endAll(handling);
    case "reset":
      return startAnew(handling, mail.id, false);
    case "erase":
      return startAnew(handling, mail.id, true);
  }
}

function onUserMessage({ draft, flow, rules }: Handling, mail: UserMessage, { cut, at }: MailInput): void {
  // The same client id again: it has its turn already.
  if (draft.fields.recent.some((entry) => entry.turn === mail.turn)) return;
  // What an erasure overtook gets its final, and is not remembered: nothing from before it is.
  if (!cut || !draft.fields.erased) draft.remember(mail);
  if (cut) return draft.end(mail.turn, { kind: "cancelled" }, mail.trace);
  draft.set({ erased: false });
  const { turn, messageId, digest, text, instructions, trace, introduce = true } = mail;
  const message: QueuedMessage = {
    turn,
    messageId,
    digest,
    text,
    introduce,
    at,
    ...(instructions === undefined ? {} : { instructions }),
    ...(trace === undefined ? {} : { trace }),
  };
  const { turn: running, queued, steered } = draft.fields;
  if (running === null) return flow.begin(message);
  if (rules.secondMessage === "steer") return draft.set({ steered: [...steered, message] });
  if (rules.secondMessage === "queue") return draft.set({ queued: [...queued, message] });
  draft.set({ queued: [message, ...queued] });
  flow.end({ kind: "cancelled" });
}

/** Cancel, and the first half of a reset: the running turn and all that wait end as cancelled. */
function endAll({ draft, flow }: Handling): void {
  const waiting = [...draft.fields.steered, ...draft.fields.queued];
  draft.set({ queued: [], steered: [] });
  flow.end({ kind: "cancelled" });
  for (const message of waiting) draft.end(message.turn, { kind: "cancelled" }, message.trace);
}

/** A reset is a commit, never a deletion: the generation rises and old writers are refused by it. */
function startAnew(handling: Handling, id: string, erase: boolean): void {
  const { draft } = handling;
  const ended = draft.fields.turn?.id ?? null;
  endAll(handling);
  draft.abort(SUMMARISE);
  const { generation, recent, controls } = draft.fields;
  draft.fields = { ...emptyFields(generation + 1, draft.now), controls, recent: erase ? [] : recent, erased: erase };
  draft.control(id, ended);
}

function runsIn(input: Exclude<SessionInput, { kind: "mail" }>): readonly SessionRun[] {
  if (input.kind === "timer") return [];
  return input.kind === "result" ? [input.run.body] : input.runs.map((run) => run.body);
}

/** K11: an honest final for whoever waits, and the dead letter. */
function giveUp(draft: Draft, input: SessionInput, reason: string, rules: TurnRules): void {
  if (input.kind === "mail") {
    const { mail, seq, origin, at } = input;
    draft.publish(deadMail(draft.key, { seq, origin, at, text: JSON.stringify(mail) }, reason));
  }
  endWithFailure(draft, input, rules);
}

/** The final alone: also the last word when nothing larger fits into the state (K12). */
function endWithFailure(draft: Draft, input: SessionInput, rules: TurnRules): void {
  const failure = { kind: "error", code: "internal", retryable: false } as const;
  if (input.kind !== "mail") {
    const runs = runsIn(input);
    if (runs.some((run) => run.kind === "summarise")) draft.set({ summarising: false });
    // What is done beside a turn must not end it.
    const isAside = runs.length > 0 && runs.every((run) => run.kind === "summarise" || run.kind === "patience");
    return isAside ? undefined : new TurnFlow(draft, rules).end(failure);
  }
  const { mail } = input;
  if (mail.kind !== "user" || draft.fields.recent.some((entry) => entry.turn === mail.turn)) return;
  draft.remember(mail);
  draft.end(mail.turn, failure, mail.trace);
}

function deadMail(key: SessionKey, item: MailItem, reason: string): PublishEffect {
  const { text } = item;
  // With a whole body of any size it might not fit into a commit, and the final beside it would be lost.
  const isWhole = !isLongerInJson(text, DEAD_BODY_BYTES);
  const kept = isWhole ? text : text.slice(0, DEAD_BODY_BYTES / MOST_JSON_BYTES).toWellFormed();
  const body: Omit<DeadLetter, "id"> = {
    v: SCHEMA_VERSION,
    kind: "mail",
    subject: mailSubject("session", key, item.origin),
    seq: item.seq,
    reason: isWhole ? reason : `${reason} (kept: ${kept.length} of ${text.length} characters)`,
    body: kept,
    ...(isWhole ? {} : { truncated: true }),
  };
  return { subject: deadSubject("mail", key), body };
}

/** A dead letter is for a person to look at; they need not see all of a megabyte. */
const DEAD_BODY_BYTES = 192 * 1024;
