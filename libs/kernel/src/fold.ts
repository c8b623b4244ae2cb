import type { Actor, Decision, Input } from "./actor.js";
import {
  type ArmedTimer,
  type Attempt,
  type Cursors,
  type Entry,
  type Known,
  type Listed,
  type ListedPublish,
  openOf,
  runsOf,
} from "./entry.js";
import { type MailWork, reasonOf, type Work } from "./work.js";

/**
 * One commit's worth of decisions, pure: inputs are handled in order and folded into one entry (K8).
 *
 * K3 Effects get their ids here, `<key>:<base>:<n>`, and keep them for good. Effects known to be
 *    published are taken off the list.
 * K11 An input whose handling throws is recorded as an attempt; the third time it is given to
 *    `onPoison`, and if that throws too, it becomes a dead letter and nothing else.
 */
export interface FoldBase<F, M, R, O> extends Known<F, R> {
  readonly key: string;
  readonly actor: Actor<F, M, R, O>;
  readonly now: number;
}

/** Attempts before an input counts as poison, and the pauses after them in milliseconds (K11). */
const MAX_ATTEMPTS = 3;
const RETRY_AFTER_MS = [50, 250, 1_000] as const;

function attemptAt<F, R>(entry: Entry<F, R>, input: string): Attempt | undefined {
  return entry.attempts.find((x) => x.input === input);
}

/** Milliseconds until it is tried again; none when the instant is so far off that another clock must have set it. */
export function pauseOf<F, R>(entry: Entry<F, R>, input: string, now: number): number {
  const ms = (attemptAt(entry, input)?.notBefore ?? now) - now;
  return ms > Math.max(...RETRY_AFTER_MS) ? 0 : Math.max(0, ms);
}

/** What the actor says about an input; undefined: nothing. */
export type Say<F, M, R, O> = (fields: F, input: Input<M, R, O>) => Decision<F, R> | undefined;

export class Fold<F, M, R, O> {
  /** What the commit will write; to begin with, only what is published is off the list. */
  entry: Entry<F, R>;
  readonly #base: FoldBase<F, M, R, O>;
  #n = 0;

  constructor(base: FoldBase<F, M, R, O>) {
    this.#base = base;
    this.entry = { ...base.entry, schema: base.actor.schema, outstanding: openOf(base) };
  }

  /** Handles inputs in order; an attempt is returned when one failed and shall be tried again later. */
  handle(works: readonly Work<M, R, O>[]): Attempt | undefined {
    for (const work of works) {
      const tried = attemptAt(this.entry, work.name);
      const pauseMs = RETRY_AFTER_MS[tried?.n ?? 0];
      try {
        this.#settle(work, this.#decide(work, tried));
      } catch (cause) {
        if (pauseMs !== undefined) return this.record(work, reasonOf(cause), this.#base.now + pauseMs);
        this.#settle(work, this.#lastResort(work, reasonOf(cause)));
      }
    }
    return undefined;
  }

  /** Past it with what is to be said about it, if that is anything. */
  end(work: Work<M, R, O>, say: Say<F, M, R, O>): void {
    const { fields } = this.entry;
    const input = this.#inputOf(work);
    try {
      this.#settle(work, (input && say(fields, input)) ?? { fields });
    } catch (cause) {
      this.#settle(work, this.#lastResort(work, reasonOf(cause)));
    }
  }

  /** Whether all attempts at it are spent. */
  isPoison({ name }: Work<M, R, O>): boolean {
    return (attemptAt(this.entry, name)?.n ?? 0) >= MAX_ATTEMPTS;
  }

  /** Lists a further attempt at it. */
  record({ name }: Work<M, R, O>, reason: string, notBefore = 0): Attempt {
    const attempt = { input: name, n: (attemptAt(this.entry, name)?.n ?? 0) + 1, notBefore, reason };
    const others = this.entry.attempts.filter((x) => x.input !== name);
    this.entry = { ...this.entry, attempts: [...others, attempt] };
    return attempt;
  }

  #decide(work: Work<M, R, O>, tried: Attempt | undefined): Decision<F, R> {
    const { actor, now } = this.#base;
    const { fields } = this.entry;
    if (work.kind === "mail" && work.fault !== undefined) return this.#lastResort(work, work.fault);
    const input = this.#inputOf(work);
    if (input === undefined) return { fields };
    const poison = work.fault ?? (this.isPoison(work) ? tried?.reason : undefined);
    return poison === undefined ? actor.receive(fields, input, now) : actor.onPoison(fields, input, poison, now);
  }

  /** K11: past it, with a dead letter when it was mail. */
  #lastResort(work: Work<M, R, O>, reason: string): Decision<F, R> {
    const letters = work.kind === "mail" ? [this.#base.actor.deadLetter(work.item, reason)] : [];
    return { fields: this.entry.fields, publish: letters };
  }

  /** The actor's view of the work; undefined when it is of nothing that the state lists (any more). */
  #inputOf(work: Work<M, R, O>): Input<M, R, O> | undefined {
    const { fields, outstanding, timers, cursors } = this.entry;
    if (work.kind === "runs") {
      return work.runs.every((run) => outstanding.some((x) => x.id === run.id)) ? work.input : undefined;
    }
    const { read, answers } = work;
    const { seq, origin, at } = work.item;
    if (read.kind !== "ok" && read.kind !== "answer") return undefined;
    const timer = timers.find((x) => x.id === answers);
    if (timer) return { kind: "timer", ref: timer.ref, body: timer.body };
    if (answers !== undefined && !this.#base.actor.expects(fields, answers)) return undefined;
    const cut = read.kind === "ok" && read.lane === "user" && seq < cursors.cut;
    return { kind: "mail", seq, origin, at, mail: read.mail, cut };
  }

  /** Takes the work off its list, and lists what was decided. */
  #settle(work: Work<M, R, O>, { fields, publish = [], run = [], abort = [], timers = [] }: Decision<F, R>): void {
    const { entry } = this;
    const over = work.kind === "runs" ? work.runs.map((x) => x.id) : [];
    const isOver = (x: Listed<R>) => x.kind === "run" && (over.includes(x.id) || abort.includes(x.ref));
    const outstanding = entry.outstanding.filter((x) => !isOver(x));
    let armed = work.kind === "mail" ? entry.timers.filter((timer) => timer.id !== work.answers) : entry.timers;
    for (const effect of publish) outstanding.push(this.#publish(work.bell, effect));
    for (const effect of run) {
      if (runsOf({ outstanding }).some((x) => x.ref === effect.ref))
        throw new Error(`run ${effect.ref} is under way already`);
      outstanding.push({ ...effect, kind: "run", id: this.#id(), bell: work.bell });
    }
    for (const effect of timers) {
      armed = armed.filter((timer) => timer.ref !== effect.ref);
      if (effect.kind === "disarm") continue;
      const listed = this.#publish(work.bell, this.#scheduled(effect));
      outstanding.push(listed);
      armed = [...armed, { id: listed.id, ref: effect.ref, at: effect.at, body: effect.body }];
    }
    const cursors = work.kind === "mail" ? advance(entry.cursors, work) : entry.cursors;
    const attempts = entry.attempts.filter((x) => x.input !== work.name);
    this.entry = { ...entry, fields, cursors, outstanding, timers: armed, attempts };
  }

  #publish(bell: number | null, effect: Omit<ListedPublish, "kind" | "id" | "bell">): ListedPublish {
    const id = this.#id();
    return { ...effect, kind: "publish", id, bell, body: { ...effect.body, id } };
  }

  /** K10: the schedule is an effect like any other; id and all that matters travel in its body. */
  #scheduled({ at, body }: Pick<ArmedTimer, "at" | "body">) {
    const { actor, revision } = this.#base;
    const schedule = { at, target: actor.selfSubject() };
    return { subject: actor.timerSubject(`${revision}-${this.#n}`), body: actor.timerBody(body), schedule };
  }

  #id(): string {
    return `${this.#base.key}:${this.#base.revision}:${this.#n++}`;
  }
}

function advance<M>(cursors: Cursors, { item, read, lane }: MailWork<M>): Cursors {
  if (lane === null) return cursors;
  const cut = read.kind === "ok" && read.lane === "cut" ? Math.max(cursors.cut, item.seq) : cursors.cut;
  return { ...cursors, [lane]: Math.max(cursors[lane], item.seq), cut };
}
