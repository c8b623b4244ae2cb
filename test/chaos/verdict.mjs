// Holds what was said against what was answered and kept, and names all that should not be.
import { canonical } from "./canonical.mjs";
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
  "stuck",
  "stream gaps",
  "refused",
];

export class Verdict {
  /** `{ figure, session, turn, text }` */
  findings = [];
  /** Finals by kind, errors by code. */
  kinds = {};

  add(figure, session, turn, text) {
    this.findings.push({ figure, session, turn, text });
  }

  count(figure) {
    return this.findings.filter((finding) => finding.figure === figure).length;
  }

  get isGood() {
    return BAD.every((figure) => this.count(figure) === 0);
  }
}

/** @param seen all that is known of a session: `{ session, outbox, entry, laws, history, follower }` */
export function judge(verdict, seen) {
  const { session, outbox, laws } = seen;
  const { name } = session;
  const byTurn = finalsByTurn(outbox);
  for (const message of session.messages) {
    message.turn = Record.turnOf(name, message.id);
    message.sent = byTurn.get(message.turn) ?? [];
  }
  for (const message of session.messages) if (message.sentAt !== undefined) judgeMessage(verdict, seen, message);
  judgeOrder(verdict, session);
  for (const fault of laws.faults) verdict.add("stale writes accepted", name, null, fault);
  const ids = new Set(outbox.map(({ id }) => id));
  for (const id of laws.promised)
    if (!ids.has(id)) verdict.add("effects missing", name, null, `${id} was promised and is not in OUTBOX`);
  const own = new Set(session.messages.map(({ turn }) => turn));
  for (const turn of byTurn.keys())
    if (!own.has(turn)) verdict.add("doubled", name, turn, "a final of a turn that nobody asked for");
  judgeHistory(verdict, seen);
  judgeStream(verdict, seen);
}

function judgeMessage(verdict, { session: { name, messages } }, message) {
  const { tag, turn, sent } = message;
  const bad = (figure, text) => verdict.add(figure, name, turn, `${tag}: ${text}`);
  const [first] = sent;
  if (first === undefined) return bad(message.acceptedAt === undefined ? "stuck" : "lost", "has no final");
  const { kind, error, text } = first.final;
  const label = kind === "error" ? `error ${error.code}` : kind;
  verdict.kinds[label] = (verdict.kinds[label] ?? 0) + 1;
  if (new Set(sent.map(({ id }) => id)).size > 1)
    bad("doubled", `finals under several ids: ${sent.map(({ seq, id }) => `${seq} ${id}`).join(", ")}`);
  const texts = new Set([...sent.map(({ final }) => canonical(final)), ...(message.finals ?? [])]);
  if (texts.size > 1) bad("doubled", `several finals: ${[...texts].join(" | ").slice(0, 600)}`);
  if ((message.turns?.size ?? 0) > 1) bad("doubled", `several turns: ${[...message.turns].join(", ")}`);
  if (message.firsts > 1) bad("doubled", `was taken for new ${message.firsts} times`);
  if (message.wasForgotten) bad("lost", "was accepted, and taken for new when it came again");
  if (kind !== "answer") return undefined;
  // Whoever was taken into the turn is answered with it.
  const fitting = [message, ...messages.filter((other) => other.turn !== turn && mergedInto(other, turn))];
  if (!fitting.some((one) => text.startsWith(`re [${one.tag}]: `))) bad("wrong answer", text.slice(0, 120));
  if (message.shown !== undefined && message.shown !== text)
    bad("wrong answer", `was streamed as ${message.shown.slice(0, 120)}`);
  return undefined;
}

const mergedInto = ({ sent }, turn) => sent?.some(({ final }) => final.mergedInto === turn) === true;

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

function judgeHistory(verdict, { session: { name, messages }, history, entry }) {
  for (const fault of faultsOfHistory(history.messages)) verdict.add("invalid histories", name, null, fault);
  history.messages.forEach(({ index }, place) => {
    if (index !== place) verdict.add("invalid histories", name, null, `message ${place} has the index ${index}`);
  });
  if (entry === null) return;
  for (const { turn, tag, text, sent } of messages) {
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
