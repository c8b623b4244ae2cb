import type { Actor } from "./actor.js";
import type { Cursors } from "./entry.js";
import type { Work } from "./fold.js";
import type { LogOrigin, MailItem, MailPort } from "./ports.js";

/**
 * The mailbox: the log of the `in` subject, and that of `ops`, as far as they are read and unhandled.
 *
 * K2 A doorbell is no more than a hint to look; what is handled is read from the log, in order, so
 *    that a user message is never seen without the control mail before it. Control mail goes first.
 *    While the actor takes no more user mail, the log is scanned past it for control mail.
 */
const BATCH = 64;

type LogWork<M> = Extract<Work<M, never, never>, { kind: "mail" | "unreadable" }>;

interface Log<M> {
  readonly works: Map<number, LogWork<M>>;
  /** First sequence written by a newer service: nothing from here on is handled by this one. */
  barrier: number;
}

export class Mailbox<F, M, R, O> {
  readonly #key: string;
  readonly #actor: Actor<F, M, R, O>;
  readonly #port: MailPort;
  readonly #logs: Record<LogOrigin, Log<M>> = {
    in: { works: new Map(), barrier: Infinity },
    ops: { works: new Map(), barrier: Infinity },
  };

  constructor(key: string, actor: Actor<F, M, R, O>, port: MailPort) {
    this.#key = key;
    this.#actor = actor;
    this.#port = port;
  }

  /** Reads what is new. `from` is the sequence to start at; `past` scans on while batches are full. */
  async read(origin: LogOrigin, from: number, past: boolean): Promise<void> {
    for (let next = from; ; ) {
      const items = await this.#port.read(this.#key, origin, next, BATCH);
      for (const item of items) this.#take(origin, item, past);
      const last = items.at(-1);
      if (!past || items.length < BATCH || last === undefined) return;
      next = last.seq + 1;
    }
  }

  #take(origin: LogOrigin, item: MailItem, controlOnly: boolean): void {
    const log = this.#logs[origin];
    if (item.seq >= log.barrier) return;
    const read = this.#actor.decodeMail(item);
    if (read.kind === "newer") {
      log.barrier = item.seq;
      return;
    }
    const work = workOf(item, read);
    if (controlOnly && laneOf(work) === "user" && log.works.size >= BATCH) return;
    log.works.set(item.seq, work);
  }

  /** Unhandled work in the order it is to be handled: control, user, ops. */
  pending(cursors: Cursors, userBlocked: boolean): LogWork<M>[] {
    const inbox = this.#unhandled("in", cursors);
    const control = inbox.filter((work) => laneOf(work) !== "user");
    const user = userBlocked ? [] : inbox.filter((work) => laneOf(work) === "user");
    return [...control, ...user, ...this.#unhandled("ops", cursors)];
  }

  #unhandled(origin: LogOrigin, cursors: Cursors): LogWork<M>[] {
    return [...this.#logs[origin].works]
      .filter(([seq, work]) => !isBehind(cursors, origin, laneOf(work), seq))
      .sort(([a], [b]) => a - b)
      .map(([, work]) => work);
  }

  /** Forgets what a stored entry has behind it. */
  prune(cursors: Cursors): void {
    for (const origin of ["in", "ops"] as const) {
      const { works } = this.#logs[origin];
      for (const [seq, work] of works) if (isBehind(cursors, origin, laneOf(work), seq)) works.delete(seq);
    }
  }

  knows(origin: LogOrigin, seq: number): boolean {
    return this.#logs[origin].works.has(seq) || seq >= this.#logs[origin].barrier;
  }

  /** Whether a newer service has to handle this one, or one before it. */
  isBeyond(origin: LogOrigin, seq: number): boolean {
    return seq >= this.#logs[origin].barrier;
  }
}

function workOf<M>(item: MailItem, read: ReturnType<Actor<unknown, M, unknown, unknown>["decodeMail"]>): LogWork<M> {
  switch (read.kind) {
    case "ok":
      return { kind: "mail", item, mail: read.mail, lane: read.lane };
    case "invalid":
      return { kind: "unreadable", item, reason: read.reason };
    case "answer":
      return { kind: "unreadable", item, reason: `an answer does not come by way of "${item.origin}"` };
    case "newer":
      return { kind: "unreadable", item, reason: `schema version ${read.version}` };
  }
}

/** Mail that cannot be read counts as user mail: it is passed over in order. */
export function laneOf<M>(work: LogWork<M>): "user" | "control" {
  return work.kind === "unreadable" || work.lane === "user" ? "user" : "control";
}

export function isBehind(cursors: Cursors, origin: LogOrigin, lane: "user" | "control", seq: number): boolean {
  if (origin === "ops") return seq <= cursors.ops;
  return seq <= (lane === "user" ? cursors.user : cursors.control);
}
