import { dueWork } from "./due-work.js";
import { type Entry, type Known, onLog, publishesOf, runsOf } from "./entry.js";
import { attemptAt, Fold, MAX_ATTEMPTS, pauseOf } from "./fold.js";
import { Mailbox } from "./mailbox.js";
import type { Bell, Point } from "./ports.js";
import { Publisher } from "./publisher.js";
import { RunTable } from "./run-table.js";
import { type ActivationBase, Fenced, type IfFull, NEWER_DELAY_MS, Tenure, TooLarge } from "./tenure.js";
import { Wake } from "./wake.js";
import { resumedWork, type Work } from "./work.js";

/**
 * One stay of one actor in one process: from the first doorbell until nothing is left to do.
 *
 * K3 Effects are published only from an entry known to be stored.
 * K4 `receive` never sees an input again that this activation merely remembers: after every commit
 *    what there is to do is worked out anew, from the entry known to be the newest.
 * K5 The first commit takes the lease, every commit renews it, the last releases it.
 * K6 Runs found under another owner's lease start only after a commit of its own.
 * K7 A doorbell is acked when it is settled, by whoever finds it so; never by an owner that lost its lease.
 * K8 Results and mail are handled while runs are outstanding, folded into one commit.
 * K11 Mail that was delivered before may have killed its process: the attempt is recorded before it
 *    is made, and it is made alone, so that nothing else goes down with it.
 */
const AGAIN_DELAY_MS = 50;
const TROUBLE_DELAY_MS = 500;

export class Activation<F, M, R, O> {
  readonly #base: ActivationBase<F, M, R, O>;
  readonly #kept: Known<F, R> | undefined;
  readonly #wake = new Wake();
  readonly #tenure: Tenure<F, M, R, O>;
  readonly #mailbox: Mailbox<F, M, R, O>;
  readonly #runs: RunTable<F, R, O>;
  readonly #publisher: Publisher<F, M, R, O>;
  /** Mail whose attempt is recorded and shall now be made. */
  readonly #announced = new Set<string>();
  #isHandingOver = false;
  #isClosed = false;

  constructor(base: ActivationBase<F, M, R, O>, kept: Known<F, R> | undefined) {
    this.#base = base;
    this.#kept = kept;
    this.#tenure = new Tenure(base);
    this.#mailbox = new Mailbox(base);
    this.#runs = new RunTable(base.ports.runs, () => this.#wake.raise());
    this.#publisher = new Publisher(base, kept?.confirmed);
  }

  /** Takes a further doorbell; false when this activation is over. */
  join(bell: Bell): boolean {
    if (this.#isClosed) return false;
    this.#mailbox.ring(bell);
    this.#wake.raise();
    return true;
  }

  /** Takes a doorbell that is offered to the holder of a lease, if that is this one. */
  take(owner: string, bell: Bell): boolean {
    return owner === this.#base.owner && this.join(bell);
  }

  stillWorking(): void {
    for (const bell of this.#mailbox.bells) bell.working();
  }

  /** Ends soon: hands what it waits for to whoever comes next (drain). */
  handOver(): void {
    this.#isHandingOver = true;
    this.#wake.raise();
  }

  /** Resolves when it is over: with what it leaves in memory if nothing is left to do. */
  async run(): Promise<Known<F, R> | undefined> {
    try {
      await this.#open();
      return await this.#work();
    } catch (cause) {
      const fence = cause instanceof Fenced ? cause : undefined;
      // A port failed where nothing could be concluded: nothing was promised, so the bells ring again.
      if (!fence) this.#base.ports.observe({ kind: "trouble", key: this.#base.key, what: "activation", cause });
      for (const bell of this.#close()) {
        if (fence?.holder) this.#base.offer(fence.holder, bell);
        else bell.nak(fence?.delayMs ?? TROUBLE_DELAY_MS);
      }
      return undefined;
    }
  }

  async #open(): Promise<void> {
    const { key, ports } = this.#base;
    const kept = this.#kept;
    const log = await ports.mail.identity();
    const known = kept && onLog(kept.entry, log);
    const [stored] = await Promise.all([
      kept ? null : ports.state.read(key, "any"),
      this.#mailbox.look(known ?? this.#tenure.decode(null, log)),
    ]);
    const entry = known ?? onLog(this.#tenure.decode(stored, log), log);
    this.#tenure.adopt(entry, kept?.revision ?? stored?.revision ?? 0);
    if (!kept) await this.#publisher.learn(publishesOf(entry));
    await this.#stayOn(log);
    this.#reach("loaded");
  }

  #reach(point: Exclude<Point, "published">): void {
    this.#base.ports.observe({ kind: "point", point, key: this.#base.key });
  }

  async #work(): Promise<Known<F, R>> {
    for (;;) {
      if (this.#tenure.isOver) throw this.#tenure.lost();
      if (this.#mailbox.hasUnjudged(this.#tenure.entry)) await this.#follow(() => this.#tenure.refresh());
      const needsRenewal = this.#startRuns();
      await this.#publisher.publish(publishesOf(this.#tenure.entry), this.#tenure);
      await this.#look();
      if (this.#mailbox.ackSettled(this.#tenure.entry, this.#publisher.confirmed)) this.#reach("acked");
      const works = this.#works();
      const due = this.#due(works);
      const hasRuns = runsOf(this.#tenure.entry).length > 0;
      const waits = hasRuns || works.length > 0 || this.#mailbox.hasNew || !this.#publisher.isDone;
      if (due.length > 0 || needsRenewal || this.#tenure.renewInMs <= 0) await this.#commit(due);
      else if (waits && this.#isHandingOver) await this.#giveAway();
      else if (waits) await this.#pause();
      // Its own lease ends here, and so does one that a dead owner left on an entry with nothing to do.
      else if (this.#tenure.entry.lease !== null) await this.#write(this.#fold().entry, false);
      else return this.#finish();
    }
  }

  /** K5: a run whose doing can be noticed waits for a lease that nobody can doubt; whether one does. */
  #startRuns(): boolean {
    const { isHeld, entry, isFresh } = this.#tenure;
    if (!isHeld || this.#isHandingOver) return false;
    let isWaiting = false;
    for (const run of runsOf(entry)) {
      if (run.sideEffect && !isFresh && !this.#runs.isUnderWay(run)) isWaiting = true;
      else this.#runs.start(run, { key: this.#base.key, runId: run.id, epoch: entry.epoch, fields: entry.fields });
    }
    return isWaiting;
  }

  /** No polling after a commit: the log is read again only when a bell lies above the cursor (K7). */
  async #look(): Promise<void> {
    if (!this.#mailbox.hasNew) return;
    await this.#mailbox.look(this.#tenure.entry);
    await this.#stayOn(this.#tenure.entry.mailStream);
  }

  /** K1: what was read counts only if the log is the same still; the next activation begins with its own. */
  async #stayOn(log: string): Promise<void> {
    if ((await this.#base.ports.mail.identity()) !== log) throw new Fenced(0);
  }

  /** What there is to be handled, in order (K8). */
  #works(): Work<M, R, O>[] {
    const { entry, isHeld } = this.#tenure;
    const runs = runsOf(entry);
    if (!isHeld && runs.length > 0) return [resumedWork(runs)];
    return [...this.#runs.results(runs), ...this.#mailbox.pending(entry)];
  }

  /** What may be handled in the next commit: a suspect is handled alone (K11). */
  #due(works: readonly Work<M, R, O>[]): Work<M, R, O>[] {
    const due = dueWork(works, this.#tenure.entry, this.#base.ports.clock.now());
    const suspect = due.findIndex((work) => this.#mailbox.wasRedelivered(work));
    return due.slice(0, suspect < 0 ? this.#base.options.maxFold : Math.max(1, suspect));
  }

  async #commit(works: readonly Work<M, R, O>[]): Promise<void> {
    if (!(await this.#tenure.seal())) return this.#follow(() => this.#tenure.refresh());
    try {
      await this.#handle(works);
    } catch (cause) {
      const [first, second] = works;
      if (!(cause instanceof TooLarge) || first === undefined) throw cause;
      await (second ? this.#commit([first]) : this.#giveUp(first, cause));
    }
  }

  /** K12: what does not fit is tried as poison, then ends with the actor's last word, at worst without any. */
  async #giveUp(work: Work<M, R, O>, cause: TooLarge): Promise<void> {
    const { key, ports } = this.#base;
    const [recorded, discarded, silent] = [this.#fold(), this.#fold(), this.#fold()];
    const n = (attemptAt(recorded.entry, work.name)?.n ?? 0) + 1;
    ports.observe({ kind: "poison", key, attempt: n, reason: cause.message });
    if (n <= MAX_ATTEMPTS) {
      recorded.record({ input: work.name, n, notBefore: 0, reason: cause.message });
      if (await this.#fits(recorded)) return;
    }
    ports.observe({ kind: "trouble", key, what: `discarded ${work.name}: ${cause.message}`, cause });
    discarded.discard(work);
    if (await this.#fits(discarded)) return;
    silent.discardSilently(work);
    await this.#write(silent.entry, true, "keep");
  }

  async #fits({ entry }: Fold<F, M, R, O>): Promise<boolean> {
    try {
      await this.#write(entry, !this.#isInheriting, "keep");
      return true;
    } catch (cause) {
      if (cause instanceof TooLarge) return false;
      throw cause;
    }
  }

  async #handle(works: readonly Work<M, R, O>[]): Promise<void> {
    const { key, ports } = this.#base;
    const [first] = works;
    const tried = (first && attemptAt(this.#tenure.entry, first.name)?.n) ?? 0;
    const fold = this.#fold();
    if (first && this.#mailbox.wasRedelivered(first) && !this.#announced.has(first.name)) {
      this.#announced.add(first.name);
      if (tried < MAX_ATTEMPTS) {
        fold.record({ input: first.name, n: tried + 1, notBefore: 0, reason: "it ended its process" });
        return this.#write(fold.entry, true);
      }
    }
    const failed = fold.handle(works);
    if (failed) ports.observe({ kind: "poison", key, attempt: failed.n, reason: failed.reason });
    this.#reach("decided");
    const ifFull = works.length === 1 && tried >= MAX_ATTEMPTS ? "keep" : "refuse";
    await this.#write(fold.entry, failed ? !this.#isInheriting : this.#hasMore(fold.entry), ifFull);
  }

  /** K6: a takeover that failed leaves the lease, for only one that succeeds may start work. */
  get #isInheriting(): boolean {
    return !this.#tenure.isHeld && runsOf(this.#tenure.entry).length > 0;
  }

  /** Whether there is a reason to keep the lease beyond this commit. */
  #hasMore(next: Entry<F, R>): boolean {
    return runsOf(next).length > 0 || this.#mailbox.hasNew || this.#mailbox.pending(next).length > 0;
  }

  get #known(): Known<F, R> {
    return { entry: this.#tenure.entry, revision: this.#tenure.revision, confirmed: this.#publisher.confirmed };
  }

  /** The next commit, with nothing handled so far. */
  #fold(): Fold<F, M, R, O> {
    const { key, actor, ports } = this.#base;
    return new Fold({ key, actor, now: ports.clock.now(), ...this.#known });
  }

  #write(entry: Entry<F, R>, keepLease: boolean, ifFull?: IfFull): Promise<void> {
    return this.#follow(() => this.#tenure.write(entry, keepLease, ifFull));
  }

  /** Goes on from the entry that is known after this; it was the newest at some instant in between (K4, K7). */
  async #follow(change: () => Promise<void>): Promise<void> {
    const { mark } = this.#mailbox;
    await change();
    this.#mailbox.follow(this.#tenure.entry.cursors, mark);
    this.#runs.keepOnly(runsOf(this.#tenure.entry));
  }

  /** Drain: the lease ends at a commit that leaves what is listed so, for the next owner to go on with (K6). */
  async #giveAway(): Promise<void> {
    this.#runs.keepOnly([]);
    if (this.#tenure.isHeld) await this.#write(this.#fold().entry, false);
    throw new Fenced(0);
  }

  #finish(): Known<F, R> {
    const { key, ports } = this.#base;
    const versions = new Set<number>();
    for (const bell of this.#close()) {
      const version = this.#mailbox.newerThan(bell.item);
      if (version !== undefined) versions.add(version);
      bell.nak(version === undefined ? AGAIN_DELAY_MS : NEWER_DELAY_MS);
    }
    for (const version of versions) ports.observe({ kind: "newer", key, what: "mail", version });
    return this.#known;
  }

  #close(): readonly Bell[] {
    this.#isClosed = true;
    this.#runs.keepOnly([]);
    return this.#mailbox.bells;
  }

  /** Until a bell, a result, the renewal, or a retry of something that failed or was not there yet. */
  async #pause(): Promise<void> {
    const { clock } = this.#base.ports;
    const { entry } = this.#tenure;
    const retries = entry.attempts.map((x) => pauseOf(x, clock.now())).filter((ms) => ms > 0);
    if (this.#mailbox.retry(entry)) retries.push(AGAIN_DELAY_MS);
    const ms = Math.min(this.#tenure.renewInMs, this.#publisher.retryInMs, ...retries);
    const cancel = ms === Infinity ? () => undefined : clock.after(Math.max(0, ms), () => this.#wake.raise());
    await this.#wake.wait();
    cancel();
  }
}
