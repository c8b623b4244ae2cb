import { type Cursors, type Entry, type Known, openOf } from "./entry.js";
import type { Bell, LogOrigin, MailItem } from "./ports.js";
import type { ActivationBase } from "./tenure.js";
import { type MailWork, mailWork, type Work } from "./work.js";

/**
 * The mail of one activation: what is read from the logs and unhandled, and the doorbells it holds.
 *
 * K2 A doorbell is no more than a hint to look; what is handled is read from the log, in order, so
 *    that a user message is never seen without the control mail before it. Control mail goes first.
 *    Every read begins at the cursor, so what is known is a prefix of what is there. While the actor
 *    takes no more user mail, the log is scanned past it for control mail. Where it is known that a read would find
 *    what the bells in hand brought along and nothing else, it is spared (`heard-mail`).
 * K7 A bell is settled when its message is behind the cursor — for `work` and `self`, when what it
 *    answers is off the state's list — and nothing it caused is outstanding. Then it is acked,
 *    before that never. What is outstanding without a bell of its own keeps all of them, for one has to
 *    ring again if this process dies. A cursor only grows, so an old entry may judge by it; what an old entry does
 *    not list may be listed since, so an answer is judged only by an entry that was the newest at
 *    some instant after its bell rang: one read through the leader, or one written by a commit.
 */
const BATCH = 64;
const LOGS: readonly LogOrigin[] = ["in", "ops"];

interface Held<M> {
  readonly bell: Bell;
  readonly work: MailWork<M>;
  /** Its place among all that rang here. */
  readonly serial: number;
}

export class Mailbox<F, M, R, O> {
  readonly #base: ActivationBase<F, M, R, O>;
  readonly #log = new Map<number, MailWork<M>>();
  readonly #held = new Map<number, Held<M>>();
  /** Serial of the newest bell. */
  #rung = 0;
  #seenTo = 0;
  #judgedTo = 0;

  constructor(base: ActivationBase<F, M, R, O>) {
    this.#base = base;
  }

  ring(bell: Bell): void {
    this.#held.set(bell.item.seq, { bell, work: this.#read(bell.item), serial: ++this.#rung });
  }

  /** All bells that have rung so far. */
  get mark(): number {
    return this.#rung;
  }

  get hasNew(): boolean {
    return this.#rung > this.#seenTo;
  }

  /** Reads each log that has a bell of unread mail, unless all of it is in hand; what is not there then is not there yet. */
  async look(entry: Entry<F, R>): Promise<void> {
    const { user, control, ops } = entry.cursors;
    this.#seenTo = this.#rung;
    const from = { in: Math.min(user, control) + 1, ops: ops + 1 };
    const unread = this.#unread(entry);
    const logs = LOGS.filter((origin) => {
      const wanted = unread.filter(({ work }) => work.item.origin === origin);
      return wanted.length > 0 && !this.#isInHand(entry, origin, wanted);
    });
    await Promise.all(logs.map((origin) => this.#scan(origin, from[origin], this.#isFull(entry))));
  }

  #isFull({ fields }: Entry<F, R>): boolean {
    return this.#base.actor.full(fields);
  }

  /**
   * K2: takes what a read would find from the bells, where nothing else can be there. That all control mail before the
   * user cursor is handled holds only while nothing waits to be tried again.
   */
  #isInHand({ mailStream, cursors, attempts }: Entry<F, R>, origin: LogOrigin, wanted: readonly Held<M>[]): boolean {
    if (attempts.length > 0) return false;
    const after = origin === "ops" ? cursors.ops : cursors.user;
    const upTo = Math.max(...wanted.map(({ work }) => work.bell));
    const isInHand = (seq: number): boolean => this.#held.has(seq) || this.#log.has(seq);
    if (!this.#base.heard.isAll(mailStream, { key: this.#base.key, origin, after, upTo, isInHand })) return false;
    for (const { work } of this.#held.values()) {
      if (work.item.origin === origin && work.bell <= upTo) this.#log.set(work.bell, work);
    }
    return true;
  }

  /** Has the next look read again what the last one did not find; whether there is any. */
  retry(entry: Entry<F, R>): boolean {
    if (this.#unread(entry).length === 0) return false;
    this.#seenTo = 0;
    return true;
  }

  /** Bells above the cursor whose mail is not known; user mail that the actor cannot take now stays where it is. */
  #unread(entry: Entry<F, R>): Held<M>[] {
    const full = this.#isFull(entry);
    return [...this.#held.values()].filter(({ work }) => {
      const isWanted = work.lane !== null && !(full && work.lane === "user") && !isBehind(entry.cursors, work);
      return isWanted && !this.#log.has(work.bell) && this.newerThan(work.item) === undefined;
    });
  }

  async #scan(origin: LogOrigin, from: number, past: boolean): Promise<void> {
    for (let next = from; ; ) {
      const items = await this.#base.ports.mail.read(this.#base.key, origin, next, BATCH);
      for (const item of items) {
        const work = this.#read(item);
        const isTooMuch = past && work.lane === "user" && this.#log.size >= BATCH;
        if (!isTooMuch) this.#log.set(item.seq, work);
      }
      const last = items.at(-1);
      if (!past || items.length < BATCH || last === undefined) return;
      next = last.seq + 1;
    }
  }

  #read(item: MailItem): MailWork<M> {
    return mailWork(item, this.#base.actor.decodeMail(item));
  }

  /** Version of mail by a newer service that is this item, or comes before it in its log: left to that service. */
  newerThan({ origin, seq }: MailItem): number | undefined {
    const known = [...this.#log.values(), ...[...this.#held.values()].map((held) => held.work)];
    const newer = known.find((x) => x.read.kind === "newer" && x.item.origin === origin && x.item.seq <= seq);
    return newer?.read.kind === "newer" ? newer.read.version : undefined;
  }

  /** Unhandled mail in the order it is to be handled: control, user, ops, answers. */
  pending(entry: Entry<F, R>): MailWork<M>[] {
    const log = [...this.#log.values()]
      .filter((work) => !isBehind(entry.cursors, work) && this.newerThan(work.item) === undefined)
      .sort((a, b) => a.item.seq - b.item.seq);
    const of = (lane: MailWork<M>["lane"]) => log.filter((work) => work.lane === lane);
    const answers = [...this.#held.values()].map(({ work }) => work).filter((work) => this.#isAwaited(entry, work));
    return [...of("control"), ...(this.#isFull(entry) ? [] : of("user")), ...of("ops"), ...answers];
  }

  /** `work` and `self` mail is handled from the delivery itself, while the entry waits for it. */
  #isAwaited(entry: Entry<F, R>, { lane, read, bell, answers }: MailWork<M>): boolean {
    if (lane !== null || read.kind === "newer") return false;
    if (answers === undefined) return entry.outstanding.every((x) => x.bell !== bell);
    return entry.timers.some((timer) => timer.id === answers) || this.#base.actor.expects(entry.fields, answers);
  }

  /** Whether some answer is off this entry's list, and the entry may be too old to tell. */
  hasUnjudged(entry: Entry<F, R>): boolean {
    return [...this.#held.values()].some(
      ({ work, serial }) => work.answers !== undefined && serial > this.#judgedTo && !this.#isAwaited(entry, work),
    );
  }

  /** Acks what is settled by this entry and forgets it; whether there was any. */
  ackSettled(known: Known<F, R>): boolean {
    const { entry } = known;
    const open = openOf(known);
    const isOwed = (seq: number) => open.some(({ bell }) => bell === seq || bell === null);
    const settled = [...this.#held.values()].filter((x) => this.#isHandled(entry, x) && !isOwed(x.work.bell));
    for (const { bell, work } of settled) {
      bell.ack();
      this.#held.delete(work.bell);
    }
    return settled.length > 0;
  }

  #isHandled(entry: Entry<F, R>, { work, serial }: Held<M>): boolean {
    if (work.read.kind === "newer") return false;
    if (work.lane !== null) return serial <= this.#seenTo && isBehind(entry.cursors, work);
    return (work.answers === undefined || serial <= this.#judgedTo) && !this.#isAwaited(entry, work);
  }

  /** Goes by an entry with these cursors, the newest at some instant after the bells up to `mark` had rung. */
  follow(cursors: Cursors, mark: number): void {
    this.#judgedTo = mark;
    for (const [seq, work] of this.#log) if (isBehind(cursors, work)) this.#log.delete(seq);
  }

  wasRedelivered(work: Work<M, R, O>): boolean {
    return work.kind === "mail" && (this.#held.get(work.bell)?.bell.redelivered ?? false);
  }

  /** The bells that are not acked. */
  get bells(): readonly Bell[] {
    return [...this.#held.values()].map((held) => held.bell);
  }
}

function isBehind<M>(cursors: Cursors, { lane, item }: MailWork<M>): boolean {
  return lane !== null && item.seq <= cursors[lane];
}
