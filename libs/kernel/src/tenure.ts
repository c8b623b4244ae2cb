import type { Actor, Offloaded } from "./actor.js";
import { Backoff } from "./backoff.js";
import { type Entry, newEntry, runsOf } from "./entry.js";
import type { HeardMail } from "./heard-mail.js";
import type { HostBase } from "./options.js";
import type { Bell, StoredEntry } from "./ports.js";

/**
 * The entry as one activation knows it, and the lease it holds on it.
 *
 * K1 Every write is a compare-and-set on the revision that the entry was read at.
 * K4 After a write whose outcome is unknown the leader's entry is where everything starts over;
 *    revisions older than one seen are ignored.
 * K5 The first commit takes the lease, every commit renews it, the last releases it. Others go by the
 *    wall clock in it, its owner by a deadline on the monotonic clock.
 * K9 While commits are impossible their owner waits, longer each time; one without a lease gives up.
 */
export interface ActivationBase<F, M, R, O> extends HostBase<F, M, R, O> {
  readonly key: string;
  readonly owner: string;
  readonly actor: Actor<F, M, R, O>;
  readonly heard: HeardMail;
  /** Whether a lease may be treated as gone although its time is not up. */
  readonly isDead: (holder: Holder) => boolean;
  /** Gives a bell to the one that holds the lease. */
  readonly offer: (holder: Holder, bell: Bell) => void;
}

export interface Holder {
  readonly owner: string;
  readonly epoch: number;
  /** Of the entry that names it: one that commits is not dead. */
  readonly revision: number;
}

/** This activation may not go on: the bells are for the holder, or ring again anywhere after the delay. */
export class Fenced extends Error {
  override readonly name = "Fenced";
  readonly delayMs: number;
  readonly holder: Holder | undefined;

  constructor(delayMs: number, holder?: Holder) {
    super(holder ? `held by ${holder.owner}` : "not this activation's any more");
    this.delayMs = delayMs;
    this.holder = holder;
  }
}

/** The entry, or what it names, would be more than the store takes: it stays as it was (K12). */
export class TooLarge extends Error {
  override readonly name = "TooLarge";
}

/** How long what only a newer service can handle is left alone. */
export const NEWER_DELAY_MS = 5_000;
const LONGEST_RETRY_MS = 1_000;
/** Writes that fail in a row before the bells are given back, and for how long. */
const MOST_FAILURES = 5;
const GIVE_UP_DELAY_MS = 2_000;

export type IfFull = "refuse" | "keep";

export class Tenure<F, M, R, O> {
  entry!: Entry<F, R>;
  revision = 0;
  /** Whether the entry's lease is this activation's. */
  isHeld = false;
  /** Whether the entry was the newest at some instant of this activation. */
  #isConfirmed = false;
  readonly #base: ActivationBase<F, M, R, O>;
  /** Monotonic instant after which the lease no longer surely holds, or what was read without one is too old (K5). */
  #endsAt = 0;
  /** Monotonic instant before the last write that surely landed was sent. */
  #landedAt = -Infinity;
  readonly #backoff = new Backoff();

  constructor(base: ActivationBase<F, M, R, O>) {
    this.#base = base;
  }

  /** Goes on from an entry known to be stored since then; fenced by somebody else's live lease. */
  adopt(entry: Entry<F, R>, revision: number, knownAt = this.#base.ports.clock.monotonic()): void {
    const { owner, isDead, options, ports } = this.#base;
    const { lease, epoch } = entry;
    const leftMs = (lease?.until ?? 0) - ports.clock.now();
    this.entry = entry;
    this.revision = revision;
    this.isHeld = lease?.owner === owner;
    // Capped: of all clocks only the monotonic one does not jump.
    this.#endsAt = this.isHeld
      ? ports.clock.monotonic() + Math.min(leftMs, options.leaseMs)
      : knownAt + options.leaseMs;
    if (lease === null || this.isHeld || leftMs <= 0) return;
    const holder = { owner: lease.owner, epoch, revision };
    if (!isDead(holder)) throw new Fenced(0, holder);
  }

  decode(stored: StoredEntry | null, log: string): Entry<F, R> {
    const { key, actor, ports } = this.#base;
    if (stored === null) return newEntry(actor.schema, log, actor.initial(ports.clock.now()));
    const raw = JSON.parse(stored.text) as Entry<unknown, R>;
    if (raw.schema > actor.schema) {
      ports.observe({ kind: "newer", key, what: "state", version: raw.schema });
      throw new Fenced(NEWER_DELAY_MS);
    }
    return { ...raw, fields: actor.decodeFields(raw.fields, raw.schema) };
  }

  /**
   * K12: stores the older part of a state that has grown, and goes on from one that names it; that is
   * true when the next commit has landed, and forgotten when it is refused.
   *
   * False when the state turns out to be outdated and has to be read anew before: it may have been erased since, and
   * what was erased must not be stored again.
   */
  async seal(): Promise<boolean> {
    const { key, actor, ports } = this.#base;
    const sealing = actor.seal(this.entry.fields);
    if (!sealing) return true;
    if (!(await this.#mayStore())) return false;
    try {
      for (const { name, text } of sealing.segments) await ports.segments.create(name, text);
      this.entry = { ...this.entry, fields: sealing.fields };
    } catch (cause) {
      ports.observe({ kind: "trouble", key, what: "sealing", cause });
    }
    return true;
  }

  get isOver(): boolean {
    return this.isHeld && this.#isOutdated;
  }

  get #isOutdated(): boolean {
    return this.#base.ports.clock.monotonic() >= this.#endsAt;
  }

  /** Fenced when the entry was known to be the newest so long ago that others may have gone on from it (K5). */
  hold(): void {
    if (this.#isOutdated) throw this.isHeld ? this.lost() : new Fenced(0);
  }

  /** Whether a commit landed so recently that nobody can have taken the owner for dead since (K5). */
  get isFresh(): boolean {
    const { options, ports } = this.#base;
    return this.isHeld && ports.clock.monotonic() - this.#landedAt < options.silenceMs;
  }

  /** Milliseconds until the lease has to be renewed; Infinity when none is held. */
  get renewInMs(): number {
    const { options, ports } = this.#base;
    const renewAt = this.#endsAt - options.leaseMs + options.renewMs;
    return this.isHeld ? renewAt - ports.clock.monotonic() : Infinity;
  }

  /**
   * One commit. Afterwards the entry known is the one written, or else the leader's. `ifFull`: what becomes of large
   * texts when their store is full; what ends an input is written with them rather than not at all.
   */
  async write(folded: Entry<F, R>, keepLease: boolean, ifFull: IfFull = "refuse"): Promise<void> {
    const { key, owner, options, ports } = this.#base;
    const runs = this.isHeld ? 0 : runsOf(this.entry).length;
    const lighter = this.#base.actor.offload?.(folded);
    // As with sealing: what was erased must not be stored again.
    if (lighter && !(await this.#mayStore())) return this.refresh();
    try {
      const light = await this.#offloaded(folded, lighter, ifFull);
      const lease = keepLease ? { owner, until: ports.clock.now() + options.leaseMs } : null;
      const next = { ...light, epoch: folded.epoch + (this.isHeld ? 0 : 1), lease };
      const sentAt = ports.clock.monotonic();
      const outcome = await ports.state.write(key, JSON.stringify(next), this.revision);
      if (outcome.kind === "stored") {
        this.#backoff.reset();
        this.#landedAt = sentAt;
        this.#isConfirmed = true;
        this.adopt(next, outcome.revision, sentAt);
        ports.observe({ kind: "point", point: "committed", key });
        if (runs > 0) ports.observe({ kind: "takeover", key, epoch: next.epoch, runs });
        return;
      }
      if (outcome.kind === "too-large") throw new TooLarge("the state would be larger than the server takes");
      ports.observe({ kind: "refused", key, revision: this.revision });
    } catch (cause) {
      if (cause instanceof TooLarge) throw cause;
      ports.observe({ kind: "trouble", key, what: "commit", cause });
      await this.#pauseAfterFailure();
    }
    await this.refresh();
  }

  /** K12: what is large is stored before the commit that names it; if it cannot be, there is no commit. */
  async #offloaded(folded: Entry<F, R>, lighter: Offloaded<F, R> | undefined, ifFull: IfFull): Promise<Entry<F, R>> {
    if (!lighter) return folded;
    const { ports } = this.#base;
    const { blobs, fields, outstanding } = lighter;
    const outcomes = await Promise.all(blobs.map(({ name, text }) => ports.blobs.create(name, text)));
    const full = outcomes.find((outcome) => outcome.kind === "full");
    if (full && ifFull === "keep") return folded;
    if (full) throw new TooLarge(full.reason);
    return { ...folded, fields, outstanding };
  }

  /** K9: a store that takes nothing is not hammered, and nobody waits in memory for it without a lease. */
  async #pauseAfterFailure(): Promise<void> {
    const pauseMs = this.#backoff.fail();
    if (!this.isHeld && this.#backoff.failures >= MOST_FAILURES) throw new Fenced(GIVE_UP_DELAY_MS);
    const leftMs = this.isHeld ? this.#endsAt - this.#base.ports.clock.monotonic() : Infinity;
    await this.#wait(Math.max(0, Math.min(pauseMs, leftMs)));
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#base.ports.clock.after(ms, resolve));
  }

  /** Starts over from the leader's entry; fenced when the lease is gone by it, or may be, or when the log is another. */
  async refresh(): Promise<void> {
    const { epoch, mailStream } = this.entry;
    const stored = await this.#readLeader();
    const entry = this.decode(stored, mailStream);
    const isMine = entry.lease?.owner === this.#base.owner && entry.epoch === epoch;
    if (this.isHeld && !isMine) throw this.lost();
    if (entry.mailStream !== mailStream) throw new Fenced(0);
    this.#isConfirmed = true;
    this.adopt(entry, stored?.revision ?? 0);
  }

  /** K12: whether the entry was the newest in this activation; one that was kept in memory may be long outdated. */
  async #mayStore(): Promise<boolean> {
    return this.#isConfirmed || this.#isNewest();
  }

  async #isNewest(): Promise<boolean> {
    const stored = await this.#readLeader();
    this.#isConfirmed = (stored?.revision ?? 0) === this.revision;
    return this.#isConfirmed;
  }

  async #readLeader(): Promise<StoredEntry | null> {
    const { key, ports } = this.#base;
    for (let pauseMs = 50; ; pauseMs = Math.min(2 * pauseMs, LONGEST_RETRY_MS)) {
      try {
        const stored = await ports.state.read(key, "leader");
        if ((stored?.revision ?? 0) >= this.revision) return stored;
      } catch (cause) {
        ports.observe({ kind: "trouble", key, what: "read", cause });
      }
      if (this.isOver) throw this.lost();
      await this.#wait(pauseMs);
    }
  }

  /** Nothing more is started, published or acked here (K5, K7). */
  lost(): Fenced {
    this.#base.ports.observe({ kind: "lost", key: this.#base.key });
    return new Fenced(0);
  }
}
