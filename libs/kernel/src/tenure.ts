import type { Actor } from "./actor.js";
import { type Entry, newEntry, publishesOf, runsOf } from "./entry.js";
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
 *    wall clock in it, its owner by the monotonic clock alone.
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

/** How long what only a newer service can handle, or somebody has to repair, is left alone. */
export const NEWER_DELAY_MS = 5_000;
/** Pauses after failures in a row; without a lease there are only so many before the bells are given back, for a while. */
const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 2_000;
const MOST_FAILURES = 5;
const GIVE_UP_DELAY_MS = 2_000;

export class Tenure<F, M, R, O> {
  entry!: Entry<F, R>;
  revision = 0;
  /** Ids of listed effects that are known to be published. */
  confirmed: Set<string>;
  /** Whether the entry's lease is this activation's. */
  isHeld = false;
  readonly #base: ActivationBase<F, M, R, O>;
  /** Whether the entry was the newest at some instant of this activation. */
  #isConfirmed = false;
  /** Monotonic instant: with a lease, before the newest write that surely landed was sent; else when the entry was read. */
  #since = 0;
  #failures = 0;

  constructor(base: ActivationBase<F, M, R, O>, confirmed: ReadonlySet<string> = new Set()) {
    this.#base = base;
    this.confirmed = new Set(confirmed);
  }

  /** Goes on from an entry known to be stored since then; fenced by somebody else's live lease. */
  adopt(entry: Entry<F, R>, revision: number, since = this.#base.ports.clock.monotonic()): void {
    const { owner, isDead, ports } = this.#base;
    const { lease } = entry;
    this.entry = entry;
    this.revision = revision;
    this.confirmed = new Set(publishesOf(entry).flatMap(({ id }) => (this.confirmed.has(id) ? id : [])));
    this.isHeld = lease?.owner === owner;
    this.#since = since;
    if (lease === null || this.isHeld || lease.until <= ports.clock.now()) return;
    const holder = { owner: lease.owner, revision };
    if (!isDead(holder)) throw new Fenced(0, holder);
  }

  decode(stored: StoredEntry | null, log: string): Entry<F, R> {
    const { key, actor, ports } = this.#base;
    if (stored === null) return newEntry(actor.schema, log, actor.initial(ports.clock.now()));
    try {
      const raw = JSON.parse(stored.text) as Entry<unknown, R>;
      if (raw.schema <= actor.schema) return { ...raw, fields: actor.decodeFields(raw.fields, raw.schema) };
      ports.observe({ kind: "newer", key, what: "state", version: raw.schema });
    } catch (cause) {
      ports.observe({ kind: "unreadable", key, cause });
    }
    throw new Fenced(NEWER_DELAY_MS);
  }

  get #ageMs(): number {
    return this.#base.ports.clock.monotonic() - this.#since;
  }

  /** Fenced when the entry was known to be the newest so long ago that others may have gone on from it (K5). */
  hold(): void {
    if (this.#ageMs >= this.#base.options.leaseMs) throw new Fenced(0);
  }

  /** Whether a commit landed so recently that nobody can have taken the owner for dead since (K5). */
  get isFresh(): boolean {
    return this.isHeld && this.#ageMs < this.#base.options.silenceMs;
  }

  /** Milliseconds until the lease has to be renewed; Infinity when none is held. */
  get renewInMs(): number {
    return this.isHeld ? this.#base.options.renewMs - this.#ageMs : Infinity;
  }

  /**
   * K12: stores the older part of a state that has grown, and goes on from one that names it; that is
   * true when the next commit has landed, and forgotten when it is refused.
   */
  async seal(): Promise<void> {
    const { key, actor, ports } = this.#base;
    const sealing = actor.seal(this.entry.fields);
    if (!sealing || !(await this.#isNewest())) return;
    try {
      for (const { name, text } of sealing.segments) await ports.segments.create(name, text);
      this.entry = { ...this.entry, fields: sealing.fields };
    } catch (cause) {
      ports.observe({ kind: "trouble", key, what: "sealing", cause });
    }
  }

  /** K12: one that was kept in memory may be long outdated, and what was erased since must not be stored again. */
  async #isNewest(): Promise<boolean> {
    this.#isConfirmed ||= ((await this.#readLeader())?.revision ?? 0) === this.revision;
    return this.#isConfirmed;
  }

  /**
   * One commit. Afterwards the entry known is the one written, or else the leader's; unless it, or what it names, is
   * more than the stores take: then nothing has changed, and the result says why (K12). `isLast`: large texts are
   * written along when their store is full, for what ends an input must not wait for room.
   */
  async write(folded: Entry<F, R>, keepLease: boolean, isLast: boolean): Promise<string | undefined> {
    const { key, owner, actor, options, ports } = this.#base;
    const { blobs, fields, outstanding } = actor.offload?.(folded) ?? { ...folded, blobs: [] };
    if (blobs.length > 0 && !(await this.#isNewest())) return this.refresh();
    try {
      const outcomes = await Promise.all(blobs.map(({ name, text }) => ports.blobs.create(name, text)));
      const full = outcomes.find((outcome) => outcome.kind === "full");
      if (full && !isLast) return full.reason;
      const light = full ? folded : { ...folded, fields, outstanding };
      const lease = keepLease ? { owner, until: ports.clock.now() + options.leaseMs } : null;
      const next = { ...light, epoch: folded.epoch + (this.isHeld ? 0 : 1), lease };
      const sentAt = ports.clock.monotonic();
      const outcome = await ports.state.write(key, JSON.stringify(next), this.revision);
      if (outcome.kind === "too-large") return "the state would be larger than the server takes";
      if (outcome.kind === "stored") return this.#landed(next, outcome.revision, sentAt);
      ports.observe({ kind: "refused", key, revision: this.revision });
    } catch (cause) {
      await this.#pauseAfter("commit", cause);
    }
    return this.refresh();
  }

  #landed(entry: Entry<F, R>, revision: number, sentAt: number): undefined {
    const { key, ports } = this.#base;
    const runs = this.isHeld ? 0 : runsOf(this.entry).length;
    this.#failures = 0;
    this.#isConfirmed = true;
    this.adopt(entry, revision, sentAt);
    ports.observe({ kind: "point", point: "committed", key });
    if (runs > 0) ports.observe({ kind: "takeover", key, epoch: entry.epoch, runs });
  }

  /** K9: a store that fails is not hammered, and nobody waits in memory for it without a lease. */
  async #pauseAfter(what: string, cause: unknown): Promise<void> {
    const { key, options, ports } = this.#base;
    ports.observe({ kind: "trouble", key, what, cause });
    const pauseMs = Math.min(FIRST_RETRY_MS * 2 ** this.#failures++, LONGEST_RETRY_MS);
    if (this.isHeld) this.hold();
    else if (this.#failures >= MOST_FAILURES) throw new Fenced(GIVE_UP_DELAY_MS);
    const leftMs = this.isHeld ? options.leaseMs - this.#ageMs : Infinity;
    await new Promise<void>((resolve) => void ports.clock.after(Math.min(pauseMs, leftMs), resolve));
  }

  /** Starts over from the leader's entry; fenced when the lease is gone by it, or when the log is another. */
  async refresh(): Promise<undefined> {
    const { mailStream } = this.entry;
    const stored = await this.#readLeader();
    const entry = this.decode(stored, mailStream);
    const isMine = entry.lease?.owner === this.#base.owner;
    if ((this.isHeld && !isMine) || entry.mailStream !== mailStream) throw new Fenced(0);
    this.#isConfirmed = true;
    // Which write of this activation is read here is not known, but it was sent after all that is known so far.
    this.adopt(entry, stored?.revision ?? 0, isMine ? this.#since : undefined);
  }

  async #readLeader(): Promise<StoredEntry | null> {
    for (;;) {
      try {
        const stored = await this.#base.ports.state.read(this.#base.key, "leader");
        if ((stored?.revision ?? 0) >= this.revision) return stored;
        throw new Error("the entry read is older than one known");
      } catch (cause) {
        await this.#pauseAfter("read", cause);
      }
    }
  }
}
