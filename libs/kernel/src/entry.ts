import type { PublishEffect, RunEffect } from "./actor.js";

/**
 * The one entry of a key: the kernel's fields and the actor's own (K1).
 *
 * K1 Every write of it is a compare-and-set on its revision; it is never deleted.
 * K3 It lists what its commit promised, with final ids; publishing copies, nothing is recomputed.
 */
export interface Cursors {
  /** Highest `in` sequence up to which all user mail is handled; `control` likewise. */
  readonly user: number;
  readonly control: number;
  readonly ops: number;
  /** Sequence of the newest handled control mail that ended the user mail before it (K2). */
  readonly cut: number;
}

export interface Lease {
  readonly owner: string;
  /** Wall clock, milliseconds. Only a hint to others: safety comes from revisions (K5). */
  readonly until: number;
}

export interface ListedPublish extends PublishEffect {
  readonly kind: "publish";
  readonly id: string;
  /**
   * Sequence of the doorbell that stays un-acked until this is published; null: there is none, for it comes from a
   * writer with a bell of its own (K9), or its log is gone (K1).
   */
  readonly bell: number | null;
  /** A message to be published later, by the server (K10). */
  readonly schedule?: { readonly at: number; readonly target: string };
}

export interface ListedRun<R> extends RunEffect<R> {
  readonly kind: "run";
  readonly id: string;
  readonly bell: number | null;
}

export type Listed<R> = ListedPublish | ListedRun<R>;

/** A timer that may still fire (K10). */
export interface ArmedTimer {
  readonly id: string;
  readonly ref: string;
  readonly at: number;
  readonly body: unknown;
}

/** A failed attempt at one input, recorded so that a poisonous one ends after three (K11). */
export interface Attempt {
  /** `<origin>:<seq>` of a mail, or the run's id. */
  readonly input: string;
  readonly n: number;
  readonly notBefore: number;
  readonly reason: string;
}

export interface Entry<F, R> {
  readonly schema: number;
  readonly cursors: Cursors;
  readonly lease: Lease | null;
  readonly epoch: number;
  readonly outstanding: readonly Listed<R>[];
  readonly timers: readonly ArmedTimer[];
  readonly attempts: readonly Attempt[];
  /** Identity of the mail log that the cursors speak of. */
  readonly mailStream: string;
  readonly fields: F;
}

/** An entry known to be stored at a revision, and those of its effects that are known to be published. */
export interface Known<F, R> {
  readonly entry: Entry<F, R>;
  readonly revision: number;
  readonly confirmed: ReadonlySet<string>;
}

type Listing<R> = Pick<Entry<unknown, R>, "outstanding">;

export const runsOf = <R>({ outstanding }: Listing<R>): ListedRun<R>[] => outstanding.filter((x) => x.kind === "run");

export const publishesOf = <R>({ outstanding }: Listing<R>): ListedPublish[] =>
  outstanding.filter((x) => x.kind === "publish");

/** What is listed and not known to be done. */
export function openOf<F, R>({ entry, confirmed }: Pick<Known<F, R>, "entry" | "confirmed">): Listed<R>[] {
  return entry.outstanding.filter(({ id }) => !confirmed.has(id));
}

export const NO_CURSORS: Cursors = { user: 0, control: 0, ops: 0, cut: 0 };

export function newEntry<F, R>(schema: number, mailStream: string, fields: F): Entry<F, R> {
  const nothing = { outstanding: [], timers: [], attempts: [] };
  return { schema, cursors: NO_CURSORS, lease: null, epoch: 0, ...nothing, mailStream, fields };
}

/** The log was recreated: its sequences count anew, so old cursors would eat new mail silently (K1). */
export function onLog<F, R>(entry: Entry<F, R>, mailStream: string): Entry<F, R> {
  if (entry.mailStream === mailStream) return entry;
  const outstanding = entry.outstanding.map((x) => ({ ...x, bell: null }));
  return { ...entry, mailStream, cursors: NO_CURSORS, attempts: [], outstanding };
}
