// Reads every revision of a session's entry and says where it breaks what must hold from one to the next. A zombie's
// write that was let through would show here: as an epoch or a cursor that goes back, or a log that was rewritten.

import { blobNameOf } from "@troupe/contracts";
import { canonical } from "./canonical.mjs";

/** A step that was taken over so often is given up by the product: it may be what its processes die of. */
const MOST_TAKEOVERS = 5;

const CURSORS = ["user", "control", "ops", "cut"];

export class StateLaws {
  /** Breaks of the laws, as text. */
  faults = [];
  /** Ids of all messages for people that any revision has promised, since the last erasure. */
  promised = new Set();
  /** Turns of which one step was taken over as often as the product allows. */
  exhausted = new Set();
  revisions = 0;
  /** The newest entry seen, parsed. */
  entry = null;
  #journal;
  #session;
  #revision = 0;
  #log = new Map();

  constructor(session, journal) {
    this.#session = session;
    this.#journal = journal;
  }

  take({ revision, text }) {
    const entry = JSON.parse(text);
    if (revision === this.#revision) return;
    if (revision < this.#revision) this.#fault(revision, `comes after revision ${this.#revision}`);
    this.revisions += 1;
    const { lease, epoch, fields, cursors, outstanding } = entry;
    this.#journal.note(
      this.#session,
      `  revision ${revision}: epoch ${epoch}, lease ${lease?.owner ?? "-"}, turn ${fields.turn?.id ?? "-"} step ${fields.turn?.steps ?? "-"}, queued ${fields.queued.length}, steered ${fields.steered.length}, messages ${fields.messageCount}, cursors ${CURSORS.map((name) => cursors[name]).join("/")}, lists ${outstanding.map(({ kind, id, subject, body }) => `${kind === "run" ? body.kind : subject.split(".")[0]} ${id}`).join(", ") || "nothing"}`,
    );
    if (this.entry !== null) this.#compare(revision, entry, this.entry);
    this.#keepLog(revision, entry);
    if (fields.turn?.resumes >= MOST_TAKEOVERS) this.exhausted.add(fields.turn.id);
    for (const { kind, subject, id } of outstanding) {
      if (kind === "publish" && subject.startsWith("outbox.")) this.promised.add(id);
    }
    this.#revision = revision;
    this.entry = entry;
  }

  /**
   * What was promised so far belongs to what is gone now: also the final of a message that the erasure overtook, which
   * is listed when the new generation has begun already.
   */
  onErased() {
    this.promised.clear();
  }

  #compare(revision, entry, before) {
    if (entry.epoch < before.epoch) this.#fault(revision, `epoch ${entry.epoch} after ${before.epoch}`);
    if (entry.mailStream === before.mailStream) {
      for (const name of CURSORS) {
        const [now, then] = [entry.cursors[name], before.cursors[name]];
        if (now < then) this.#fault(revision, `cursor ${name} ${now} after ${then}`);
      }
    } else this.#fault(revision, "another mail log");
    const [now, then] = [entry.fields, before.fields];
    if (now.generation < then.generation)
      this.#fault(revision, `generation ${now.generation} after ${then.generation}`);
    if (now.generation === then.generation && now.messageCount < then.messageCount) {
      this.#fault(revision, `${now.messageCount} messages after ${then.messageCount}`);
    }
  }

  /** The log only grows: what stood at an index of a generation stays there. */
  #keepLog(revision, { fields: { generation, log, messageCount } }) {
    if (log.from + log.tail.length !== messageCount) this.#fault(revision, "the count is not the log's length");
    for (const [place, message] of log.tail.entries()) {
      const at = `${generation}/${log.from + place}`;
      const known = this.#log.get(at);
      if (known !== undefined && !isSame(known, message)) this.#fault(revision, `message ${at} was rewritten`);
      this.#log.set(at, message);
    }
  }

  #fault(revision, what) {
    this.faults.push(`revision ${revision}: ${what}`);
  }
}

/** A long text may be parted once: then its beginning stands where it stood, and its rest has the name of its content. */
function isSame(known, { rest, ...now }) {
  if (rest === undefined || known.rest !== undefined) return canonical(known) === canonical({ ...now, rest });
  const { content } = known;
  const isParted = content?.startsWith(now.content) && blobNameOf(content.slice(now.content.length)) === rest.blob;
  return isParted && canonical(known) === canonical({ ...now, content });
}
