import { Effects } from "./effects.js";
import { type Attempt, type Entry, type Known, onLog, openOf, runsOf } from "./entry.js";
import { Fold, pauseOf, type Say } from "./fold.js";
import { Mailbox } from "./mailbox.js";
import type { Bell, Point } from "./ports.js";
import { type ActivationBase, Fenced, NEWER_DELAY_MS, Tenure } from "./tenure.js";
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
  readonly #tenure: Tenure<F, M, R, O>;
  readonly #mailbox: Mailbox<F, M, R, O>;
  readonly #effects: Effects<F, M, R, O>;
  /** Mail whose attempt is recorded and shall now be made. */
  readonly #announced = new Set<string>();
  #wake: () => void = () => undefined;
  #isHandingOver = false;
  #isClosed = false;

  constructor(base: ActivationBase<F, M, R, O>, kept: Known<F, R> | undefined) {
    this.#base = base;
    this.#kept = kept;
    this.#tenure = new Tenure(base, kept?.confirmed);
    this.#mailbox = new Mailbox(base);
    this.#effects = new Effects(base, this.#tenure);
  }

  /** Takes a further doorbell; false when this activation is over, or not the owner it is meant for. */
  join(bell: Bell, owner = this.#base.owner): boolean {
    if (this.#isClosed || owner !== this.#base.owner) return false;
    this.#mailbox.ring(bell);
    this.#wake();
    return true;
  }

  stillWorking(): void {
    for (const bell of this.#mailbox.bells) bell.working();
  }

  /** Ends soon: hands what it waits for to whoever comes next (drain). */
  handOver(): void {
    this.#isHandingOver = true;
    this.#wake();
  }

  /** Resolves when it is over: with what it leaves in memory if nothing is left to do. */
  async run(): Promise<Known<F, R> | undefined> {
    try {
      await this.#open();
      return await this.#work();
    } catch (cause) {
      const fence = cause instanceof Fenced ? cause : undefined;
      const { key, ports } = this.#base;
      // A port failed where nothing could be concluded: nothing was promised, so the bells ring again.
      if (!fence) ports.observe({ kind: "trouble", key, what: "activation", cause });
      else if (this.#tenure.isHeld) ports.observe({ kind: "lost", key });
      for (const bell of this.#close()) {
        if (fence?.holder) this.#base.offer(fence.holder, bell);
        else bell.nak(fence?.delayMs ?? TROUBLE_DELAY_MS);
      }
      return undefined;
    }
  }

  async #open(): Promise<void> {
    const { key, ports } = this.#base;
    const log = await ports.mail.identity();
    const known = this.#kept && onLog(this.#kept.entry, log);
    const [stored] = await Promise.all([
      known ? null : ports.state.read(key, "any"),
      this.#mailbox.look(known ?? this.#tenure.decode(null, log)),
    ]);
    const entry = known ?? onLog(this.#tenure.decode(stored, log), log);
    // Before the bells are offered to whoever has the lease: it may read another log than they rang for.
    await this.#stayOn(log);
    this.#tenure.adopt(entry, this.#kept?.revision ?? stored?.revision ?? 0);
    if (!known) await this.#effects.learn();
    await this.#stayOn(log);
    this.#reach("loaded");
  }

  #reach(point: Exclude<Point, "published">): void {
    this.#base.ports.observe({ kind: "point", point, key: this.#base.key });
  }

  async #work(): Promise<Known<F, R>> {
    for (;;) {
      this.#tenure.hold();
      if (this.#mailbox.hasUnjudged(this.#tenure.entry)) await this.#follow(() => this.#tenure.refresh());
      const needsRenewal = !this.#isHandingOver && this.#effects.start(() => this.#wake());
      await this.#effects.publish();
      await this.#look();
      if (this.#mailbox.ackSettled(this.#tenure)) this.#reach("acked");
      const works = this.#works();
      const due = this.#due(works);
      const waits = openOf(this.#tenure).length > 0 || works.length > 0 || this.#mailbox.hasNew;
      // Its own lease ends at such a commit, and so does one that a dead owner left on an entry with nothing to do.
      const isLeaseIdle = !waits && this.#tenure.entry.lease !== null;
      if (due.length > 0 || needsRenewal || isLeaseIdle || this.#tenure.renewInMs <= 0) await this.#commit(due);
      else if (!waits) return this.#finish();
      else if (this.#isHandingOver) await this.#giveAway();
      else await this.#pause();
    }
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
    return [...this.#effects.results, ...this.#mailbox.pending(entry)];
  }

  /** What may be handled in the next commit: not behind what failed a moment ago, and a suspect alone (K11). */
  #due(works: readonly Work<M, R, O>[]): Work<M, R, O>[] {
    const now = this.#base.ports.clock.now();
    const blocked = new Set<string>();
    const due = works.filter((work) => {
      const lane = (work.kind === "mail" ? work.lane : null) ?? work.name;
      if (pauseOf(this.#tenure.entry, work.name, now) > 0) blocked.add(lane);
      return !blocked.has(lane);
    });
    // At once: were another handled first that ends the process, the attempt would count and never have been made.
    const announced = due.find(({ name }) => this.#announced.has(name));
    if (announced) return [announced];
    const suspect = due.findIndex((work) => this.#mailbox.wasRedelivered(work));
    return due.slice(0, suspect < 0 ? this.#base.options.maxFold : Math.max(1, suspect));
  }

  /** One commit of what these lead to; if that is more than fits, of the first alone, at last of its end (K12). */
  async #commit(works: readonly Work<M, R, O>[]): Promise<void> {
    await this.#tenure.seal();
    const [first, second] = works;
    const tooLarge = await this.#write(this.#handled(works));
    if (tooLarge === undefined) return;
    if (first === undefined) throw new Error(tooLarge);
    await (second ? this.#commit([first]) : this.#giveUp(first, tooLarge));
  }

  #handled(works: readonly Work<M, R, O>[]): Fold<F, M, R, O> {
    const [first] = works;
    const fold = this.#fold();
    const isSuspect = first && this.#mailbox.wasRedelivered(first) && !this.#announced.has(first.name);
    if (isSuspect && !fold.isPoison(first)) {
      this.#announced.add(first.name);
      fold.record(first, "it ended its process");
      return fold;
    }
    const failed = fold.handle(works);
    if (failed) this.#reportPoison(failed);
    this.#reach("decided");
    return fold;
  }

  #reportPoison({ n, reason }: Attempt): void {
    this.#base.ports.observe({ kind: "poison", key: this.#base.key, attempt: n, reason });
  }

  /** K12: what does not fit ends as poison, else with the actor's last word, at worst without any. */
  async #giveUp(work: Work<M, R, O>, reason: string): Promise<void> {
    const { key, actor, ports } = this.#base;
    const now = ports.clock.now();
    const fits = async (say: Say<F, M, R, O>) => {
      const fold = this.#fold();
      fold.end(work, say);
      return (await this.#write(fold, true)) === undefined;
    };
    this.#reportPoison(this.#fold().record(work, reason));
    if (await fits((fields, input) => actor.onPoison(fields, input, reason, now))) return;
    ports.observe({ kind: "trouble", key, what: `discarded ${work.name}: ${reason}`, cause: reason });
    if (await fits((fields, input) => actor.lastWord?.(fields, input, now))) return;
    if (!(await fits(() => undefined))) throw new Error(reason);
  }

  /**
   * K5: the lease is kept while there is more to do. K6: but not taken before the runs of another owner are off the
   * list, for whoever has it starts what is listed.
   */
  #keepsLease(next: Entry<F, R>): boolean {
    const { entry, isHeld } = this.#tenure;
    const runs = runsOf(next);
    const isInheriting = !isHeld && runsOf(entry).some(({ id }) => runs.some((run) => run.id === id));
    return !isInheriting && (runs.length > 0 || this.#mailbox.hasNew || this.#mailbox.pending(next).length > 0);
  }

  get #known(): Known<F, R> {
    const { entry, revision, confirmed } = this.#tenure;
    return { entry, revision, confirmed };
  }

  /** The next commit, with nothing handled so far. */
  #fold(): Fold<F, M, R, O> {
    const { key, actor, ports } = this.#base;
    return new Fold({ key, actor, now: ports.clock.now(), ...this.#known });
  }

  /** Says why if that is more than fits (K12). */
  #write({ entry }: Fold<F, M, R, O>, isLast = false, keepLease = this.#keepsLease(entry)) {
    return this.#follow(() => this.#tenure.write(entry, keepLease, isLast));
  }

  /** Goes on from the entry that is known after this; it was the newest at some instant in between (K4, K7). */
  async #follow(change: () => Promise<string | undefined>): Promise<string | undefined> {
    const { mark } = this.#mailbox;
    const tooLarge = await change();
    if (tooLarge !== undefined) return tooLarge;
    this.#mailbox.follow(this.#tenure.entry.cursors, mark);
    this.#effects.keepOnly(runsOf(this.#tenure.entry));
    return undefined;
  }

  /** Drain: the lease ends at a commit that leaves what is listed so, for the next owner to go on with (K6). */
  async #giveAway(): Promise<void> {
    this.#effects.keepOnly([]);
    if (this.#tenure.isHeld) await this.#write(this.#fold(), false, false);
    throw new Fenced(0);
  }

  #finish(): Known<F, R> {
    const { key, ports } = this.#base;
    for (const bell of this.#close()) {
      const version = this.#mailbox.newerThan(bell.item);
      if (version !== undefined) ports.observe({ kind: "newer", key, what: "mail", version });
      bell.nak(version === undefined ? AGAIN_DELAY_MS : NEWER_DELAY_MS);
    }
    return this.#known;
  }

  #close(): readonly Bell[] {
    this.#isClosed = true;
    this.#effects.keepOnly([]);
    return this.#mailbox.bells;
  }

  /** Until a bell, a result, the renewal, or a retry of something that failed or was not there yet. */
  async #pause(): Promise<void> {
    const { clock } = this.#base.ports;
    const { entry, renewInMs } = this.#tenure;
    if (this.#mailbox.hasNew) return;
    const now = clock.now();
    const retries = entry.attempts.map(({ input }) => pauseOf(entry, input, now)).filter((ms) => ms > 0);
    if (this.#mailbox.retry(entry)) retries.push(AGAIN_DELAY_MS);
    const ms = Math.min(renewInMs, this.#effects.retryInMs, ...retries);
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    const cancel = ms === Infinity ? () => undefined : clock.after(Math.max(0, ms), this.#wake);
    await woken;
    cancel();
  }
}
