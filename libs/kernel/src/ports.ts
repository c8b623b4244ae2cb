import type { ListedPublish } from "./entry.js";

/**
 * What the kernel needs from the world. One suite of laws (`@troupe/kernel/testing`) holds for every
 * implementation. A port may reject a promise at any time: the kernel then knows nothing about the
 * outcome and acts accordingly (K4).
 */

export interface StoredEntry {
  readonly revision: number;
  readonly text: string;
}

export type WriteOutcome =
  | { readonly kind: "stored"; readonly revision: number }
  /** The revision was not the newest. It may still be that this very write landed earlier (K4). */
  | { readonly kind: "refused" }
  /** More than the store takes in one piece: nothing was written, and trying again is no use (K12). */
  | { readonly kind: "too-large" };

export interface StatePort {
  /**
   * The entry, or null when there is none. `any` may lag behind; `leader` may not.
   * Revisions of one key grow with every write and are never reused.
   */
  read(key: string, from: "any" | "leader"): Promise<StoredEntry | null>;
  /** Compare-and-set on the revision (0: no entry yet). Rejects when the outcome is unknown. */
  write(key: string, text: string, revision: number): Promise<WriteOutcome>;
}

/** A lane that is read in order, from the log. */
export type LogOrigin = "in" | "ops";
export type MailOrigin = LogOrigin | "work" | "self";

export interface MailItem {
  readonly seq: number;
  readonly origin: MailOrigin;
  /** When the log took it in, milliseconds since the epoch. */
  readonly at: number;
  readonly text: string;
}

export interface MailPort {
  /** Names this very log: a recreated one counts from 1 again and has another identity (K1). */
  identity(): Promise<string>;
  /** Up to `limit` items with `seq >= from`, in order: a prefix of what is there, perhaps not the newest. */
  read(key: string, origin: LogOrigin, from: number, limit: number): Promise<readonly MailItem[]>;
  /** Whether the bell is still in the queue. Never says no to one that is there (K3). */
  waiting(seq: number): Promise<boolean>;
}

/** One delivery of a doorbell (K7). Its methods are fire-and-forget: a lost ack rings again. */
export interface Bell {
  readonly key: string;
  readonly item: MailItem;
  /** A hint that it was delivered before; never more than a hint (K11). */
  readonly redelivered: boolean;
  ack(): void;
  nak(delayMs: number): void;
  working(): void;
}

/** Pieces of long states and of large texts: written once, named by what they hold (K12). */
export interface SegmentPort {
  /** Create-only; that it exists already is success. Rejects when the outcome is unknown. */
  create(name: string, text: string): Promise<void>;
}

export type BlobOutcome =
  | { readonly kind: "stored" }
  /**
   * The store has no room: nothing was written, and trying again is no use until somebody makes some (K12).
   * The reason tells an operator which store it is, and what would raise its limit.
   */
  | { readonly kind: "full"; readonly reason: string };

export interface BlobPort {
  /** Create-only; that it exists already is success. Rejects when the outcome is unknown. */
  create(name: string, text: string): Promise<BlobOutcome>;
}

export interface PublishPort {
  /**
   * Publishes with the effect's id for deduplication. `duplicate` and `waiting` (one of this subject
   * already waits) count as published. Rejects when the outcome is unknown.
   */
  publish(effect: ListedPublish): Promise<"published" | "duplicate" | "waiting">;
}

export interface OwnerPort {
  /** Asks the process that holds the lease to take the bell over (K7). `silent`: nobody answered. */
  offer(owner: string, bell: Bell): Promise<"taken" | "declined" | "silent">;
}

export interface Clock {
  /** Wall clock, milliseconds since the epoch. Never trusted for safety. */
  now(): number;
  /** Milliseconds on a clock that never jumps. */
  monotonic(): number;
  /** Calls back once after `ms`; the result cancels it. */
  after(ms: number, callback: () => void): () => void;
}

/** Work that the owning process does outside `receive`. */
export interface RunContext<F> {
  readonly key: string;
  readonly runId: string;
  readonly epoch: number;
  /** The actor's fields as committed when the run started. */
  readonly fields: F;
}

export interface StartedRun<O> {
  /** Resolves with what came of it; a rejection is a defect and is treated as poison (K11). */
  readonly outcome: Promise<O>;
  abort(): void;
}

export interface RunPort<F, R, O> {
  start(run: R, context: RunContext<F>): StartedRun<O>;
}

/** Where an activation has got to; crash tests and tracing hang on the same points. */
export type Point = "loaded" | "decided" | "committed" | "published" | "acked";

export type KernelEvent =
  | { readonly kind: "point"; readonly point: Exclude<Point, "published">; readonly key: string }
  | { readonly kind: "point"; readonly point: "published"; readonly key: string; readonly effect: ListedPublish }
  | { readonly kind: "refused"; readonly key: string; readonly revision: number }
  | { readonly kind: "takeover"; readonly key: string; readonly epoch: number; readonly runs: number }
  | { readonly kind: "lost"; readonly key: string }
  | { readonly kind: "poison"; readonly key: string; readonly attempt: number; readonly reason: string }
  | { readonly kind: "newer"; readonly key: string; readonly what: "mail" | "state"; readonly version: number }
  /** The state: its mail waits until somebody has repaired it. */
  | { readonly kind: "unreadable"; readonly key: string; readonly cause: unknown }
  | { readonly kind: "trouble"; readonly key: string; readonly what: string; readonly cause: unknown };

export interface Ports<F, R, O> {
  readonly state: StatePort;
  readonly mail: MailPort;
  readonly segments: SegmentPort;
  /** What is too large for an entry or a message. */
  readonly blobs: BlobPort;
  readonly publish: PublishPort;
  readonly owner: OwnerPort;
  readonly runs: RunPort<F, R, O>;
  readonly clock: Clock;
  readonly observe: (event: KernelEvent) => void;
}
