import type { Actor, DecodedMail } from "./actor.js";
import type { Cursors, Entry } from "./entry.js";
import { owesNothing, type Work } from "./fold.js";
import { isBehind, type Mailbox } from "./mailbox.js";
import type { Bell, LogOrigin } from "./ports.js";

/**
 * The doorbells one activation holds.
 *
 * K7 A bell is settled when its message is behind the cursor — for `work` and `self`, when what it
 *    answers is off the state's list — and nothing it caused is outstanding. Then it is acked,
 *    before that never. A cursor only grows, so an old entry may judge by it; what an old entry does
 *    not list may be listed since, so an answer is judged only by an entry that was the newest at
 *    some instant after its bell rang: one read through the leader, or one written by a commit.
 */
interface Held<M> {
  bell: Bell;
  readonly read: DecodedMail<M>;
  /** Its place among all that rang here. */
  readonly serial: number;
  /** The log was read after it rang; what was not there then is not there yet. */
  seen: boolean;
}

export class Doorbells<F, M, R, O> {
  readonly #actor: Actor<F, M, R, O>;
  readonly #held = new Map<number, Held<M>>();
  /** Unreadable answers whose dead letter is committed. */
  readonly #buried = new Set<number>();
  #serial = 0;
  #judgedTo = 0;

  constructor(actor: Actor<F, M, R, O>) {
    this.#actor = actor;
  }

  add(bell: Bell): void {
    const held = this.#held.get(bell.item.seq);
    if (held) held.bell = bell;
    else {
      const read = this.#actor.decodeMail(bell.item);
      this.#held.set(bell.item.seq, { bell, read, serial: ++this.#serial, seen: false });
    }
  }

  /** All bells that have rung so far: to be taken before an entry is written or read, for `judge`. */
  get mark(): number {
    return this.#serial;
  }

  /** The entry now known was the newest after those bells had rung. */
  judge(mark: number): void {
    this.#judgedTo = mark;
  }

  /** Whether some answer is off this entry's list, and the entry may be too old to tell. */
  hasUnjudged(entry: Entry<F, R>): boolean {
    return [...this.#held.values()].some(
      ({ read, serial }) => read.kind === "answer" && serial > this.#judgedTo && !this.#isListed(entry, read.answers),
    );
  }

  /** Whether some bell has not been looked at. */
  get hasNew(): boolean {
    return [...this.#held.values()].some((held) => !held.seen);
  }

  holds(origin: LogOrigin): boolean {
    return [...this.#held.values()].some((held) => held.bell.item.origin === origin);
  }

  /** Whether a bell of this log lies above the cursor and its mail has not been read. */
  hasUnread(origin: LogOrigin, cursors: Cursors, mailbox: Mailbox<F, M, R, O>): boolean {
    return [...this.#held].some(
      ([seq, { bell, read, seen }]) =>
        !seen &&
        bell.item.origin === origin &&
        !isBehind(cursors, origin, laneIn(read), seq) &&
        !mailbox.knows(origin, seq),
    );
  }

  markSeen(): void {
    for (const held of this.#held.values()) held.seen = true;
  }

  wasRedelivered(seq: number): boolean {
    return this.#held.get(seq)?.bell.redelivered ?? false;
  }

  /** `work` and `self` mail that the entry still waits for; it is handled from the delivery itself. */
  answers(entry: Entry<F, R>): Work<M, R, O>[] {
    const works: Work<M, R, O>[] = [];
    for (const [seq, { bell, read }] of this.#held) {
      const { item } = bell;
      if (item.origin === "in" || item.origin === "ops") continue;
      if (read.kind === "answer") {
        if (this.#isListed(entry, read.answers))
          works.push({ kind: "answer", item, mail: read.mail, answers: read.answers });
      } else if (read.kind !== "newer" && !this.#isBuried(entry, seq)) {
        works.push({
          kind: "unreadable",
          item,
          reason: read.kind === "invalid" ? read.reason : `not accepted from "${item.origin}"`,
        });
      }
    }
    return works;
  }

  #isListed(entry: Entry<F, R>, answers: string): boolean {
    return entry.timers.some((timer) => timer.id === answers) || this.#actor.expects(entry.fields, answers);
  }

  #isBuried(entry: Entry<F, R>, seq: number): boolean {
    return this.#buried.has(seq) || entry.outstanding.some((x) => x.bell === seq);
  }

  /** To be called with each stored entry. */
  stored(entry: Entry<F, R>): void {
    for (const [seq, { bell, read }] of this.#held) {
      const isAnswer = bell.item.origin === "work" || bell.item.origin === "self";
      if (isAnswer && read.kind !== "answer" && entry.outstanding.some((x) => x.bell === seq)) this.#buried.add(seq);
    }
  }

  /** Acks what is settled by this entry and forgets it; the number of acks. */
  ackSettled(entry: Entry<F, R>, confirmed: ReadonlySet<string>): number {
    let acks = 0;
    for (const [seq, held] of this.#held) {
      if (!this.#isHandled(entry, seq, held) || !owesNothing(entry, seq, confirmed)) continue;
      held.bell.ack();
      this.#held.delete(seq);
      acks += 1;
    }
    return acks;
  }

  #isHandled(entry: Entry<F, R>, seq: number, { bell, read, serial }: Held<M>): boolean {
    const { origin } = bell.item;
    if (read.kind === "newer") return false;
    if (origin === "in" || origin === "ops") return isBehind(entry.cursors, origin, laneIn(read), seq);
    if (read.kind !== "answer") return this.#isBuried(entry, seq);
    return serial <= this.#judgedTo && !this.#isListed(entry, read.answers);
  }

  working(): void {
    for (const { bell } of this.#held.values()) bell.working();
  }

  takeAll(): Bell[] {
    const bells = [...this.#held.values()].map((held) => held.bell);
    this.#held.clear();
    return bells;
  }
}

function laneIn<M>(read: DecodedMail<M>): "user" | "control" {
  return read.kind === "ok" && read.lane !== "user" ? "control" : "user";
}
