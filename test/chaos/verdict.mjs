// Holds what was said against what was answered and kept, and names all that should not be.
import { canonical } from "./canonical.mjs";
import { deliveryFaults } from "./delivery-laws.mjs";
import { answerTo } from "./message-draw.mjs";
import { CHANNEL_MODES } from "./schedule.mjs";
import { remainsIn } from "./erasure-laws.mjs";
import { outcomeFault } from "./outcome-laws.mjs";
import { faultsOfHistory } from "./strict-history.mjs";
import { Record } from "./record.mjs";

/** The figures that must be 0. */
export const BAD = [
  "lost",
  "doubled",
  "wrong answer",
  "out of order",
  "invalid histories",
  "missing from history",
  "stale writes accepted",
  "effects missing",
  "remains after delete",
  "stuck",
  "stream gaps",
  "refused",
  "delivered twice",
  "not delivered",
  "delivered wrongly",
  "previews after the final",
];

export class Verdict {
  /** `{ figure, session, turn, text }` */
  findings = [];
  /** Finals by kind, errors by code. */
  kinds = {};

  #onFinding;

  constructor(onFinding = () => undefined) {
    this.#onFinding = onFinding;
  }

  add(figure, session, turn, text) {
    const finding = { figure, session, turn, text };
    this.findings.push(finding);
    this.#onFinding(finding);
  }

  /** Whether anything was found about a session. */
  concerns(name) {
    return this.findings.some(({ session }) => session === name);
  }

  /** Counts how a message ended. */
  ended({ kind, error }) {
    const label = kind === "error" ? `error ${error.code}` : kind;
    this.kinds[label] = (this.kinds[label] ?? 0) + 1;
  }

  count(figure) {
    return this.findings.filter((finding) => finding.figure === figure).length;
  }

  get isGood() {
    return BAD.every((figure) => this.count(figure) === 0);
  }
}

/**
 * @param seen all that is known of a session: `{ session, outbox, entry, laws, stored, history, follower }`, and
 *   `{ deliveries, screen }` when its replies go to a messenger
 */
export function judge(verdict, seen) {
  const { session, outbox, laws } = seen;
  const { name } = session;
  session.exhausted = laws.exhausted;
  const byTurn = finalsByTurn(outbox);
  for (const message of session.messages) {
    message.turn = Record.turnOf(name, message.id);
    message.sent = message.life === session.life ? (byTurn.get(message.turn) ?? []) : [];
  }
  const said = session.messages.filter(({ sentAt }) => sentAt !== undefined);
  const living = said.filter(({ life }) => life === session.life);
  for (const message of said) judgeTold(verdict, session, message);
  for (const message of living) judgeSent(verdict, session, message);
  judgeOrder(verdict, { name, messages: living });
  for (const fault of laws.faults) verdict.add("stale writes accepted", name, null, fault);
  judgeEffects(verdict, seen);
  const own = new Set(living.map(({ turn }) => turn));
  const old = new Set(said.filter(({ life }) => life < session.life).map(({ turn }) => turn));
  // What an erased turn left behind is named so below.
  for (const turn of byTurn.keys())
    if (!own.has(turn) && !old.has(turn)) verdict.add("doubled", name, turn, "a final of a turn that nobody asked for");
  judgeHistory(verdict, { ...seen, living });
  judgeStream(verdict, seen);
  if (session.life > 0) judgeErasure(verdict, seen);
  if (session.resend === undefined) return;
  for (const { figure, turn, text } of deliveryFaults(seen)) verdict.add(figure, name, turn, text);
}

/** @param seen also right after an erasure, then without a history */
export function judgeErasure(verdict, seen) {
  const { name } = seen.session;
  if (seen.entry === null) return;
  for (const text of remainsIn(seen)) verdict.add("remains after delete", name, null, text);
}

/** What the client was told of a message, also of one that was erased later. */
function judgeTold(verdict, session, message) {
  const { tag, turn, turns, finals, firsts, final, shown } = message;
  const bad = (figure, text) => verdict.add(figure, session.name, turn, `${tag}: ${text}`);
  if ((finals?.size ?? 0) > 1) bad("doubled", `several finals: ${[...finals].join(" | ").slice(0, 600)}`);
  if ((turns?.size ?? 0) > 1) bad("doubled", `several turns: ${[...turns].join(", ")}`);
  if (firsts > 1) bad("doubled", `was taken for new ${firsts} times`);
  if (message.wasForgotten) bad("lost", "was accepted, and taken for new when it came again");
  if (shown !== undefined && shown !== answerTo(message)) bad("wrong answer", `was streamed "${shown.slice(0, 120)}"`);
  if (final === undefined || message.life === session.life) return;
  verdict.ended(final);
  const isKnown = final.kind === "merged" || CHANNEL_MODES[session.channel] === "steer";
  const fault = isKnown ? null : outcomeFault(message, final, session);
  if (fault !== null) bad("wrong answer", fault);
}

/** What stands in OUTBOX for a message. */
function judgeSent(verdict, session, message) {
  const { tag, turn, sent, finals = [] } = message;
  const bad = (figure, text) => verdict.add(figure, session.name, turn, `${tag}: ${text}`);
  const [first] = sent;
  if (first === undefined) return bad(message.acceptedAt === undefined ? "stuck" : "lost", "has no final");
  verdict.ended(first.final);
  if (new Set(sent.map(({ id }) => id)).size > 1)
    bad("doubled", `finals under several ids: ${sent.map(({ seq, id }) => `${seq} ${id}`).join(", ")}`);
  const texts = new Set([...sent.map(({ final }) => canonical(final)), ...finals]);
  if (texts.size > 1) bad("doubled", `several finals: ${[...texts].join(" | ").slice(0, 600)}`);
  const fault = outcomeFault(message, first.final, session);
  if (fault !== null) bad("wrong answer", fault);
  return undefined;
}

/** What any revision has promised to people is in OUTBOX, unless it was erased. */
function judgeEffects(verdict, { session: { name }, outbox, laws }) {
  const ids = new Set(outbox.map(({ id }) => id));
  for (const id of laws.promised) {
    if (!ids.has(id)) verdict.add("effects missing", name, null, `${id} was promised and is not in OUTBOX`);
  }
}

/** Whoever spoke after another had been accepted is answered after it. What was merged is answered early. */
function judgeOrder(verdict, { name, messages }) {
  const all = messages.filter(
    ({ sent, acceptedAt }) => acceptedAt !== undefined && sent?.[0] && sent[0].final.kind !== "merged",
  );
  for (const earlier of all) {
    for (const later of all) {
      if (earlier.acceptedAt < later.sentAt && earlier.sent[0].seq > later.sent[0].seq) {
        verdict.add(
          "out of order",
          name,
          later.turn,
          `${later.tag} (${later.sent[0].seq}) before ${earlier.tag} (${earlier.sent[0].seq})`,
        );
      }
    }
  }
}

function judgeHistory(verdict, { session: { name }, living, history, entry, lostBlobs }) {
  for (const fault of faultsOfHistory(history.messages)) verdict.add("invalid histories", name, null, fault);
  history.messages.forEach(({ index }, place) => {
    if (index !== place) verdict.add("invalid histories", name, null, `message ${place} has the index ${index}`);
  });
  for (const blob of lostBlobs ?? [])
    verdict.add("missing from history", name, null, `the blob ${blob} cannot be read`);
  if (entry === null) return;
  for (const { turn, tag, text, sent } of living) {
    const last = sent?.[0];
    if (last === undefined || last.generation !== entry.fields.generation) continue;
    const { kind, mergedInto: host, index } = last.final;
    if (kind !== "answer" && kind !== "merged") continue;
    const asked = history.messages.filter(({ role, content }) => role === "user" && content === text);
    if (asked.length !== 1 || asked[0].turn !== (host ?? turn)) {
      verdict.add("missing from history", name, turn, `${tag}: its message stands there ${asked.length} times`);
    }
    if (kind === "merged") continue;
    const answer = history.messages[index];
    if (answer?.role !== "assistant" || answer.turn !== turn || !answer.content?.includes(last.final.text)) {
      verdict.add("missing from history", name, turn, `${tag}: its answer is not at ${index}`);
    }
  }
}

function judgeStream(verdict, { session: { name }, outbox, follower }) {
  if (follower === undefined) return;
  for (const fault of follower.faults) verdict.add("stream gaps", name, null, fault);
  const shown = new Set(follower.finals.map(({ seq }) => seq));
  for (const { seq, final } of outbox) {
    if (final && !shown.has(seq))
      verdict.add("stream gaps", name, final.turn, `the final ${seq} never came over the event stream`);
  }
}

function finalsByTurn(outbox) {
  const groups = new Map();
  for (const event of outbox)
    if (event.final) groups.set(event.final.turn, [...(groups.get(event.final.turn) ?? []), event]);
  return groups;
}
