import type { Actor } from "./actor.js";
import { Doorbells } from "./doorbells.js";
import { type Entry, newEntry, onLog, publishesOf, runsOf } from "./entry.js";
import { attemptsAt, fold, MAX_ATTEMPTS, nameOf, withAttempt, type Work } from "./fold.js";
import { laneOf, Mailbox } from "./mailbox.js";
import type { Bell, Ports, StoredEntry } from "./ports.js";
import { Publisher } from "./publisher.js";
import { RunTable } from "./run-table.js";
import { Wake } from "./wake.js";

/**
 * One stay of one actor in one process: from the first doorbell until nothing is left to do.
 *
 * K3 Effects are published only from an entry known to be stored.
 * K4 After a write whose outcome is unknown it starts over from the entry that the leader holds;
 *    `receive` never sees an input again that this activation merely remembers.
 * K5 The first commit takes the lease, every commit renews it, the last releases it.
 * K6 Runs found under another owner's lease start only after a commit of its own.
 * K7 A doorbell is acked when it is settled, by whoever finds it so; never by an owner that lost its lease.
 * K8 Results and mail are handled while runs are outstanding, folded into one commit.
 */
export interface Options {
  /** How long others respect the lease without hearing of it again, and how often it is renewed. */
  readonly leaseMs: number;
  readonly renewMs: number;
  /** Inputs folded into one commit at most. */
  readonly maxFold: number;
}

export interface Kept<F, R> {
  readonly entry: Entry<F, R>;
  readonly revision: number;
  readonly confirmed: ReadonlySet<string>;
}

/** How an activation ended: `again` when its bells should be looked at afresh at once. */
export type Ended<F, R> =
  | { readonly kind: "done"; readonly kept: Kept<F, R> }
  | { readonly kind: "contended"; readonly owner: string; readonly epoch: number; readonly bells: readonly Bell[] }
  | { readonly kind: "again"; readonly bells: readonly Bell[] }
  | { readonly kind: "left"; readonly bells: readonly Bell[]; readonly delayMs: number };

export interface ActivationBase<F, M, R, O> {
  readonly key: string;
  readonly owner: string;
  readonly actor: Actor<F, M, R, O>;
  readonly ports: Ports<F, R, O>;
  readonly options: Options;
  /** Whether a lease may be treated as gone although its time is not up. */
  readonly isDead: (owner: string, epoch: number) => boolean;
}

const NEWER_DELAY_MS = 5_000;
const RETRY_MS = [50, 100, 250, 500, 1_000] as const;

export class Activation<F, M, R, O> {
  readonly #base: ActivationBase<F, M, R, O>;
  readonly #wake = new Wake();
  readonly #bells: Doorbells<F, M, R, O>;
  readonly #mailbox: Mailbox<F, M, R, O>;
  readonly #runs: RunTable<F, R, O>;
  readonly #publisher: Publisher;
  readonly #tried = new Set<string>();
  #entry!: Entry<F, R>;
  #revision = 0;
  /** Epoch of the lease this activation holds; 0: none. */
  #epoch = 0;
  /** Monotonic instant after which the lease no longer surely holds (K5). */
  #leaseEndsAt = 0;
  #renewAt = Infinity;
  #handOver = false;
  #closed = false;

  constructor(base: ActivationBase<F, M, R, O>, kept: Kept<F, R> | undefined) {
    this.#base = base;
    const { key, actor, ports } = base;
    this.#mailbox = new Mailbox(key, actor, ports.mail);
    this.#bells = new Doorbells(actor);
    this.#runs = new RunTable(ports.runs, () => this.#wake.raise());
    this.#publisher = new Publisher(key, ports, kept?.confirmed);
    if (kept) [this.#entry, this.#revision] = [kept.entry, kept.revision];
  }

  /** Takes a further doorbell; false when this activation is over. */
  join(bell: Bell): boolean {
    if (this.#closed) return false;
    this.#bells.add(bell);
    this.#wake.raise();
    return true;
  }

  holdsLease(owner: string): boolean {
    return !this.#closed && this.#base.owner === owner;
  }

  stillWorking(): void {
    this.#bells.working();
  }

  /** Ends soon: hands outstanding runs to whoever comes next (drain). */
  handOver(): void {
    this.#handOver = true;
    this.#wake.raise();
  }

  async run(): Promise<Ended<F, R>> {
    try {
      const refused = await this.#open();
      return refused ?? (await this.#loop());
    } catch (cause) {
      // A port failed where nothing could be concluded: nothing was promised, so the bells ring again.
      this.#trouble("activation", cause);
      return { kind: "left", bells: this.#close(), delayMs: 500 };
    }
  }

  async #open(): Promise<Ended<F, R> | undefined> {
    const { key, ports } = this.#base;
    const known = this.#entry !== undefined;
    const { user, control, ops } = known ? this.#entry.cursors : { user: 0, control: 0, ops: 0 };
    const [log, stored] = await Promise.all([
      ports.mail.identity(),
      known ? undefined : ports.state.read(key, "any"),
      this.#bells.holds("in") ? this.#mailbox.read("in", Math.min(user, control) + 1, false) : undefined,
      this.#bells.holds("ops") ? this.#mailbox.read("ops", ops + 1, false) : undefined,
    ]);
    if (!known) {
      const newer = this.#load(stored ?? null, log);
      if (newer) return newer;
      await this.#publisher.learn(this.#entry);
    } else this.#entry = onLog(this.#entry, log);
    ports.observe({ kind: "point", point: "loaded", key });
    return this.#contended();
  }

  #load(stored: StoredEntry | null, log: string): Ended<F, R> | undefined {
    const { key, actor, ports } = this.#base;
    if (stored === null) {
      this.#entry = newEntry(actor.schema, log, actor.initial(ports.clock.now()));
      this.#revision = 0;
      return undefined;
    }
    const raw = JSON.parse(stored.text) as Entry<unknown, R>;
    if (raw.schema > actor.schema) {
      ports.observe({ kind: "newer", key, what: "state", version: raw.schema });
      return { kind: "left", bells: this.#close(), delayMs: NEWER_DELAY_MS };
    }
    this.#entry = onLog({ ...raw, fields: actor.decodeFields(raw.fields, raw.schema) }, log);
    this.#revision = stored.revision;
    return undefined;
  }

  /** Somebody else's live lease: the bells are for that owner. */
  #contended(): Ended<F, R> | undefined {
    const { owner, isDead, ports } = this.#base;
    const { lease, epoch } = this.#entry;
    if (lease === null || lease.owner === owner || lease.until <= ports.clock.now() || isDead(lease.owner, epoch))
      return undefined;
    return { kind: "contended", owner: lease.owner, epoch, bells: this.#close() };
  }

  async #loop(): Promise<Ended<F, R>> {
    for (;;) {
      if (this.#epoch > 0 && this.#base.ports.clock.monotonic() >= this.#leaseEndsAt) return this.#lost();
      if (this.#bells.hasUnjudged(this.#entry)) {
        const ended = await this.#startOver(this.#leaseEndsAt - this.#base.options.leaseMs);
        if (ended) return ended;
      }
      this.#startRuns();
      await this.#publisher.publish(publishesOf(this.#entry.outstanding));
      this.#ackSettled();
      await this.#look();
      const works = this.#works();
      const due = this.#due(works);
      const ended =
        due.length > 0 || this.#isRenewalDue() ? await this.#commit(due) : await this.#rest(works.length > 0);
      if (ended) return ended;
    }
  }

  #isRenewalDue(): boolean {
    return this.#epoch > 0 && this.#base.ports.clock.monotonic() >= this.#renewAt;
  }

  /** Nothing can be handled now: wait, hand over, release, or end. */
  async #rest(waiting: boolean): Promise<Ended<F, R> | undefined> {
    const hasRuns = runsOf(this.#entry.outstanding).length > 0;
    if (this.#handOver && hasRuns) return this.#giveAway();
    if (hasRuns || waiting || this.#bells.hasNew || !this.#publisher.isDone) {
      await this.#pause();
      return undefined;
    }
    return this.#epoch > 0 ? this.#write(this.#dropConfirmed(), false) : this.#finish();
  }

  /** K5: a run whose doing can be noticed starts only while the lease surely holds. */
  #startRuns(): void {
    const { key, ports } = this.#base;
    if (this.#epoch === 0 || this.#handOver) return;
    for (const run of runsOf(this.#entry.outstanding)) {
      if (this.#runs.has(run.id)) continue;
      if (run.sideEffect && ports.clock.monotonic() >= this.#leaseEndsAt) return;
      this.#runs.start(run, { key, runId: run.id, epoch: this.#epoch, fields: this.#entry.fields });
    }
  }

  /** No polling after a commit: the log is read again only when a bell lies above the cursor (K7). */
  async #look(): Promise<void> {
    if (!this.#bells.hasNew) return;
    const { cursors, fields } = this.#entry;
    const inbox = this.#bells.hasUnread("in", cursors, this.#mailbox);
    const ops = this.#bells.hasUnread("ops", cursors, this.#mailbox);
    this.#bells.markSeen();
    const full = this.#base.actor.full(fields);
    if (inbox)
      await this.#mailbox.read("in", (full ? cursors.control : Math.min(cursors.user, cursors.control)) + 1, full);
    if (ops) await this.#mailbox.read("ops", cursors.ops + 1, false);
  }

  /** What is there to be handled, in order (K8). */
  #works(): Work<M, R, O>[] {
    const { outstanding, cursors, fields } = this.#entry;
    const runs = runsOf(outstanding);
    if (this.#epoch === 0 && runs.length > 0) return [{ kind: "resumed", runs }];
    const mail = this.#mailbox.pending(cursors, this.#base.actor.full(fields));
    return [...this.#runs.results<M>(runs), ...mail, ...this.#bells.answers(this.#entry)];
  }

  /** Leaves out what failed a moment ago, and what comes after it in the same lane (K11). */
  #due(works: Work<M, R, O>[]): Work<M, R, O>[] {
    const now = this.#base.ports.clock.now();
    const waiting = new Set(this.#entry.attempts.filter((x) => x.notBefore > now).map((x) => x.input));
    if (waiting.size === 0) return works.slice(0, this.#base.options.maxFold);
    const blocked = new Set<string>();
    const due = works.filter((work) => {
      const inOrder = work.kind === "mail" || work.kind === "unreadable";
      const lane = inOrder ? `${work.item.origin} ${laneOf(work)}` : nameOf(work);
      if (waiting.has(nameOf(work))) blocked.add(lane);
      return !blocked.has(lane);
    });
    return due.slice(0, this.#base.options.maxFold);
  }

  async #commit(works: readonly Work<M, R, O>[]): Promise<Ended<F, R> | undefined> {
    const { key, ports } = this.#base;
    const risky = works.find((work) => this.#isRisky(work));
    if (risky) {
      this.#tried.add(nameOf(risky));
      return this.#write(
        withAttempt(this.#dropConfirmed(), nameOf(risky), "it ended its process", ports.clock.now()),
        true,
      );
    }
    const { entry, failed } = fold(this.#foldBase(), works);
    if (failed) ports.observe({ kind: "poison", key, attempt: failed.n, reason: failed.reason });
    ports.observe({ kind: "point", point: "decided", key });
    return this.#write(entry, failed !== undefined || this.#hasMore(entry));
  }

  /** K11: what was delivered before and left no trace may have killed its process. */
  #isRisky(work: Work<M, R, O>): boolean {
    if (work.kind !== "mail" && work.kind !== "answer") return false;
    const name = nameOf(work);
    return (
      this.#bells.wasRedelivered(work.item.seq) &&
      !this.#tried.has(name) &&
      attemptsAt(this.#entry, name) < MAX_ATTEMPTS
    );
  }

  /** Whether there is a reason to keep the lease beyond this commit. */
  #hasMore(next: Entry<F, R>): boolean {
    return (
      runsOf(next.outstanding).length > 0 ||
      this.#bells.hasNew ||
      this.#bells.answers(next).length > 0 ||
      this.#mailbox.pending(next.cursors, this.#base.actor.full(next.fields)).length > 0
    );
  }

  #foldBase() {
    const { key, actor, ports } = this.#base;
    return {
      key,
      actor,
      entry: this.#entry,
      revision: this.#revision,
      confirmed: this.#publisher.confirmed,
      now: ports.clock.now(),
    };
  }

  #dropConfirmed(): Entry<F, R> {
    return fold(this.#foldBase(), []).entry;
  }

  async #write(folded: Entry<F, R>, keepLease: boolean): Promise<Ended<F, R> | undefined> {
    const { key, owner, options, ports } = this.#base;
    const epoch = this.#epoch > 0 ? this.#epoch : folded.epoch + 1;
    const lease = keepLease ? { owner, until: ports.clock.now() + options.leaseMs } : null;
    const next: Entry<F, R> = { ...folded, epoch, lease };
    const sentAt = ports.clock.monotonic();
    const mark = this.#bells.mark;
    try {
      const outcome = await ports.state.write(key, JSON.stringify(next), this.#revision);
      if (outcome.kind === "stored") {
        this.#bells.judge(mark);
        this.#adopt(next, outcome.revision, sentAt);
        ports.observe({ kind: "point", point: "committed", key });
        return undefined;
      }
      ports.observe({ kind: "refused", key, revision: this.#revision });
    } catch (cause) {
      this.#trouble("commit", cause);
    }
    return this.#startOver(sentAt);
  }

  #adopt(next: Entry<F, R>, revision: number, sentAt: number): void {
    const { owner, options } = this.#base;
    this.#entry = next;
    this.#revision = revision;
    const held = next.lease?.owner === owner;
    this.#epoch = held ? next.epoch : 0;
    this.#leaseEndsAt = sentAt + options.leaseMs;
    this.#renewAt = held ? sentAt + options.renewMs : Infinity;
    this.#runs.keepOnly(runsOf(next.outstanding));
    this.#publisher.keepOnly(publishesOf(next.outstanding));
    this.#bells.stored(next);
    this.#mailbox.prune(next.cursors);
  }

  /** K4: the leader's entry is where everything starts over; revisions older than one seen are ignored. */
  async #startOver(sentAt: number): Promise<Ended<F, R> | undefined> {
    const held = this.#epoch;
    const log = this.#entry.mailStream;
    for (let tries = 0; ; tries++) {
      const mark = this.#bells.mark;
      const stored = await this.#reread();
      if (stored !== undefined && (stored?.revision ?? 0) >= this.#revision) {
        const newer = this.#load(stored, log);
        if (newer) return newer;
        this.#bells.judge(mark);
        break;
      }
      if (held > 0 && this.#base.ports.clock.monotonic() >= this.#leaseEndsAt) return this.#lost();
      await this.#sleep(RETRY_MS[Math.min(tries, RETRY_MS.length - 1)] ?? 1_000);
    }
    const mine = this.#entry.lease?.owner === this.#base.owner;
    if (mine && (held === 0 || held === this.#entry.epoch)) {
      this.#adopt(this.#entry, this.#revision, sentAt);
      return undefined;
    }
    if (held > 0) return this.#lost();
    this.#adopt(this.#entry, this.#revision, sentAt);
    return this.#contended();
  }

  async #reread(): Promise<StoredEntry | null | undefined> {
    try {
      return await this.#base.ports.state.read(this.#base.key, "leader");
    } catch (cause) {
      this.#trouble("read", cause);
      return undefined;
    }
  }

  /** The lease is gone, or may be: nothing more is started, published or acked here (K5, K7). */
  #lost(): Ended<F, R> {
    this.#base.ports.observe({ kind: "lost", key: this.#base.key });
    return { kind: "again", bells: this.#close() };
  }

  /** Drain: the lease ends at a commit that leaves the runs listed, so that the next owner resumes them (K6). */
  async #giveAway(): Promise<Ended<F, R>> {
    this.#runs.abortAll();
    await this.#write(this.#dropConfirmed(), false);
    return { kind: "left", bells: this.#close(), delayMs: 0 };
  }

  #ackSettled(): void {
    const acked = this.#bells.ackSettled(this.#entry, this.#publisher.confirmed);
    if (acked > 0) this.#base.ports.observe({ kind: "point", point: "acked", key: this.#base.key });
  }

  #finish(): Ended<F, R> {
    for (const bell of this.#close()) {
      const origin = bell.item.origin;
      const newer = (origin === "in" || origin === "ops") && this.#mailbox.isBeyond(origin, bell.item.seq);
      if (newer) this.#base.ports.observe({ kind: "newer", key: this.#base.key, what: "mail", version: 0 });
      bell.nak(newer ? NEWER_DELAY_MS : RETRY_MS[0]);
    }
    return {
      kind: "done",
      kept: { entry: this.#entry, revision: this.#revision, confirmed: this.#publisher.confirmed },
    };
  }

  #close(): Bell[] {
    this.#closed = true;
    this.#runs.abortAll();
    return this.#bells.takeAll();
  }

  /** Until a bell, a result, the renewal, a retry or the end of a pause. */
  async #pause(): Promise<void> {
    const { clock } = this.#base.ports;
    const retries = this.#entry.attempts.map((x) => x.notBefore - clock.now()).filter((ms) => ms > 0);
    const due = Math.min(this.#renewAt - clock.monotonic(), this.#publisher.retryInMs, ...retries);
    const cancel = due === Infinity ? () => undefined : clock.after(Math.max(0, due), () => this.#wake.raise());
    await this.#wake.wait();
    cancel();
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.#base.ports.clock.after(ms, resolve));
  }

  #trouble(what: string, cause: unknown): void {
    this.#base.ports.observe({ kind: "trouble", key: this.#base.key, what, cause });
  }
}
