import type { Actor, Decision, Input } from "./actor.js";
import {
  type ArmedTimer,
  type Attempt,
  type Cursors,
  type Entry,
  type Listed,
  type ListedRun,
  publishesOf,
  runsOf,
} from "./entry.js";
import type { MailItem } from "./ports.js";

/**
 * One commit's worth of decisions, pure: inputs are handled in order and folded into one entry (K8).
 *
 * K3 Effects get their ids here, `<key>:<base>:<n>`, and keep them for good. Effects known to be
 *    published are taken off the list.
 * K11 An input whose handling throws is recorded as an attempt; the third time it is given to
 *    `onPoison`, and if that throws too, it becomes a dead letter and nothing else.
 */
export type Work<M, R, O> =
  | { readonly kind: "mail"; readonly item: MailItem; readonly mail: M; readonly lane: "user" | "control" | "cut" }
  | { readonly kind: "answer"; readonly item: MailItem; readonly mail: M; readonly answers: string }
  | { readonly kind: "unreadable"; readonly item: MailItem; readonly reason: string }
  | { readonly kind: "result"; readonly run: ListedRun<R>; readonly outcome: O }
  /** The run's promise rejected: a defect of the runner's, for `onPoison` at once. */
  | { readonly kind: "defect"; readonly run: ListedRun<R>; readonly reason: string }
  | { readonly kind: "resumed"; readonly runs: readonly ListedRun<R>[] };

/** Attempts before an input counts as poison, and the pauses between them in milliseconds (K11). */
export const MAX_ATTEMPTS = 3;
const RETRY_AFTER_MS = [50, 250, 1000] as const;

export interface Folded<F, R> {
  readonly entry: Entry<F, R>;
  /** The attempt that ended this fold early, if one did. */
  readonly failed?: Attempt;
}

export interface FoldBase<F, M, R, O> {
  readonly key: string;
  readonly actor: Actor<F, M, R, O>;
  /** The entry that this commit is based on, and its revision. */
  readonly entry: Entry<F, R>;
  readonly revision: number;
  readonly confirmed: ReadonlySet<string>;
  readonly now: number;
}

/** Names an input in the list of attempts. */
export function nameOf<M, R, O>(work: Work<M, R, O>): string {
  switch (work.kind) {
    case "mail":
    case "answer":
    case "unreadable":
      return `${work.item.origin}:${work.item.seq}`;
    case "result":
    case "defect":
      return work.run.id;
    case "resumed":
      return `resumed:${work.runs.map((run) => run.id).join(",")}`;
  }
}

export function fold<F, M, R, O>(base: FoldBase<F, M, R, O>, works: readonly Work<M, R, O>[]): Folded<F, R> {
  const fresh = new Fold(base);
  for (const work of works) {
    const failed = fresh.handle(work);
    if (failed) return { entry: fresh.entry, failed };
  }
  return { entry: fresh.entry };
}

/** Records one more try of an input before it is made, for input that may kill its process (K11). */
export function withAttempt<F, R>(entry: Entry<F, R>, input: string, reason: string, now: number): Entry<F, R> {
  const n = attemptsAt(entry, input) + 1;
  const attempt: Attempt = { input, n, notBefore: now, reason };
  return { ...entry, attempts: [...entry.attempts.filter((x) => x.input !== input), attempt] };
}

export function attemptsAt<F, R>(entry: Entry<F, R>, input: string): number {
  return entry.attempts.find((x) => x.input === input)?.n ?? 0;
}

class Fold<F, M, R, O> {
  entry: Entry<F, R>;
  readonly #base: FoldBase<F, M, R, O>;
  #n = 0;

  constructor(base: FoldBase<F, M, R, O>) {
    this.#base = base;
    const { entry, confirmed } = base;
    this.entry = {
      ...entry,
      schema: base.actor.schema,
      outstanding: entry.outstanding.filter((x) => x.kind === "run" || !confirmed.has(x.id)),
    };
  }

  /** Handles one input; an attempt is returned when that failed and shall be tried again later. */
  handle(work: Work<M, R, O>): Attempt | undefined {
    const name = nameOf(work);
    const tried = attemptsAt(this.entry, name);
    const before = this.entry;
    try {
      this.#settle(work, this.#decide(work, tried));
    } catch (cause) {
      this.entry = before;
      const reason = cause instanceof Error ? cause.message : String(cause);
      if (tried >= MAX_ATTEMPTS) this.#bury(work, reason);
      else return this.#record(name, tried + 1, reason);
    }
    this.entry = { ...this.entry, attempts: this.entry.attempts.filter((x) => x.input !== name) };
    return undefined;
  }

  #record(input: string, n: number, reason: string): Attempt {
    const pause = RETRY_AFTER_MS[Math.min(n, RETRY_AFTER_MS.length) - 1] ?? 0;
    const attempt: Attempt = { input, n, notBefore: this.#base.now + pause, reason };
    this.entry = { ...this.entry, attempts: [...this.entry.attempts.filter((x) => x.input !== input), attempt] };
    return attempt;
  }

  #decide(work: Work<M, R, O>, tried: number): Decision<F, R> | undefined {
    const { actor, now } = this.#base;
    const fields = this.entry.fields;
    if (work.kind === "unreadable") return undefined;
    const input = this.#inputOf(work);
    if (input === undefined) return undefined;
    if (work.kind === "defect") return actor.onPoison(fields, input, work.reason, now);
    if (tried < MAX_ATTEMPTS) return actor.receive(fields, input, now);
    const reason = this.entry.attempts.find((x) => x.input === nameOf(work))?.reason ?? "it ended its process";
    return actor.onPoison(fields, input, reason, now);
  }

  /** The actor's view of the work; undefined when it answers nothing that the state lists. */
  #inputOf(work: Exclude<Work<M, R, O>, { kind: "unreadable" }>): Input<M, R, O> | undefined {
    switch (work.kind) {
      case "mail": {
        const { seq, origin, at } = work.item;
        const cut = work.lane === "user" && seq < this.entry.cursors.cut;
        return { kind: "mail", seq, origin, at, mail: work.mail, cut };
      }
      case "answer": {
        const { seq, origin, at } = work.item;
        const timer = this.#timer(work.answers);
        if (timer) return { kind: "timer", ref: timer.ref, body: timer.body };
        if (!this.#base.actor.expects(this.entry.fields, work.answers)) return undefined;
        return { kind: "mail", seq, origin, at, mail: work.mail, cut: false };
      }
      case "result":
        return { kind: "result", run: { ref: work.run.ref, body: work.run.body }, outcome: work.outcome };
      case "defect":
        return { kind: "resumed", runs: [{ ref: work.run.ref, body: work.run.body }] };
      case "resumed":
        return { kind: "resumed", runs: work.runs.map(({ ref, body }) => ({ ref, body })) };
    }
  }

  #timer(id: string): ArmedTimer | undefined {
    return this.entry.timers.find((timer) => timer.id === id);
  }

  /** Takes the work off its list, then lists what was decided. */
  #settle(work: Work<M, R, O>, decision: Decision<F, R> | undefined): void {
    this.#takeOff(work);
    if (work.kind === "unreadable") {
      this.#publish(work.item.seq, this.#base.actor.deadLetter(work.item, work.reason));
    }
    if (decision) this.#list(bellOf(work), decision);
  }

  #takeOff(work: Work<M, R, O>): void {
    const { entry } = this;
    switch (work.kind) {
      case "mail":
      case "unreadable":
        this.entry = { ...entry, cursors: advance(entry.cursors, work) };
        return;
      case "answer":
        this.entry = { ...entry, timers: entry.timers.filter((timer) => timer.id !== work.answers) };
        return;
      case "result":
      case "defect":
        this.#endRuns((run) => run.id === work.run.id);
        return;
      case "resumed":
        this.#endRuns((run) => work.runs.some((x) => x.id === run.id));
        return;
    }
  }

  #endRuns(ends: (run: ListedRun<R>) => boolean): void {
    this.entry = { ...this.entry, outstanding: this.entry.outstanding.filter((x) => x.kind !== "run" || !ends(x)) };
  }

  /** K11, last resort: past it, with a dead letter when it was mail. */
  #bury(work: Work<M, R, O>, reason: string): void {
    this.#takeOff(work);
    if (work.kind === "mail" || work.kind === "answer" || work.kind === "unreadable") {
      this.#publish(work.item.seq, this.#base.actor.deadLetter(work.item, reason));
    }
  }

  #list(bell: number, decision: Decision<F, R>): void {
    const { abort = [], run = [], publish = [], timers = [] } = decision;
    if (abort.length > 0) this.#endRuns((x) => abort.includes(x.ref));
    this.entry = { ...this.entry, fields: decision.fields };
    for (const effect of publish) this.#publish(bell, effect);
    for (const effect of run) {
      if (runsOf(this.entry.outstanding).some((x) => x.ref === effect.ref))
        throw new Error(`run ${effect.ref} is outstanding already`);
      this.#add({
        kind: "run",
        id: this.#id(),
        bell,
        ref: effect.ref,
        sideEffect: effect.sideEffect,
        body: effect.body,
      });
    }
    for (const effect of timers) {
      this.entry = { ...this.entry, timers: this.entry.timers.filter((x) => x.ref !== effect.ref) };
      if (effect.kind === "arm") this.#arm(bell, effect);
    }
  }

  #publish(
    bell: number,
    effect: { subject: string; body: Readonly<Record<string, unknown>>; trace?: string | undefined },
  ): void {
    const id = this.#id();
    const trace = effect.trace === undefined ? {} : { trace: effect.trace };
    this.#add({ kind: "publish", id, bell, subject: effect.subject, body: { ...effect.body, id }, ...trace });
  }

  /** K10: the schedule is an effect like any other; id and all that matters travel in its body. */
  #arm(bell: number, effect: { ref: string; at: number; body: unknown }): void {
    const { actor, revision } = this.#base;
    const token = `${revision}-${this.#n}`;
    const id = this.#id();
    this.entry = {
      ...this.entry,
      timers: [...this.entry.timers, { id, ref: effect.ref, at: effect.at, body: effect.body }],
    };
    this.#add({
      kind: "publish",
      id,
      bell,
      subject: actor.timerSubject(token),
      body: { ...actor.timerBody(effect.body), id },
      schedule: { at: effect.at, target: actor.selfSubject() },
    });
  }

  #id(): string {
    return `${this.#base.key}:${this.#base.revision}:${this.#n++}`;
  }

  #add(listed: Listed<R>): void {
    this.entry = { ...this.entry, outstanding: [...this.entry.outstanding, listed] };
  }
}

function bellOf<M, R, O>(work: Work<M, R, O>): number {
  switch (work.kind) {
    case "mail":
    case "answer":
    case "unreadable":
      return work.item.seq;
    // What follows from a run lives under the bell of the run: that one is un-acked still (K7).
    case "result":
    case "defect":
      return work.run.bell;
    case "resumed":
      return work.runs[0]?.bell ?? 0;
  }
}

function advance<M, R, O>(cursors: Cursors, work: Extract<Work<M, R, O>, { kind: "mail" | "unreadable" }>): Cursors {
  const { seq, origin } = work.item;
  const lane = work.kind === "mail" ? work.lane : "user";
  const cut = lane === "cut" ? Math.max(cursors.cut, seq) : cursors.cut;
  if (origin === "ops") return { ...cursors, ops: Math.max(cursors.ops, seq), cut };
  if (lane === "user") return { ...cursors, user: Math.max(cursors.user, seq), cut };
  return { ...cursors, control: Math.max(cursors.control, seq), cut };
}

/** Whether a bell may be acked (K7): its mail is behind, and nothing it caused is outstanding. */
export function owesNothing<F, R>(entry: Entry<F, R>, seq: number, confirmed: ReadonlySet<string>): boolean {
  return (
    runsOf(entry.outstanding).every((run) => run.bell !== seq) &&
    publishesOf(entry.outstanding).every((effect) => effect.bell !== seq || confirmed.has(effect.id))
  );
}
