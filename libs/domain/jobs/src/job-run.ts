import { decode, Job, type JobDelivery, parseJobSubject, type SessionKey } from "@troupe/contracts";
import type { ListedPublish } from "@troupe/kernel";
import { AttemptLedger } from "./attempt-ledger.js";
import { type Interruption, JobHold } from "./job-hold.js";
import { deadJob, nextJob } from "./job-message.js";
import type { JobBase } from "./job-ports.js";
import { backoffMs } from "./job-rules.js";
import { JobWork, type WorkEnd } from "./job-work.js";
import { withLimit } from "./work-limit.js";

/**
 * One delivery of a job in one process, from its arrival to its last word.
 *
 * J1 One job of a subject waits at a time. The refusal of a second one counts as published (K3), because whoever does
 *    the first looks at the newest state.
 * J3 While a job is here, commits that make more work due have theirs refused. So the last look comes after the job is
 *    known to be gone and its subject free: every refusal came before it, and every commit before its refusal. What that
 *    look finds due, or if it fails or has no end, becomes the next job.
 * J4 A failed attempt is recorded, and tried again after a pause that doubles. After the last one the job becomes a
 *    dead letter, and only then leaves the queue; the subject is then free, and nothing is looked at again: what is still
 *    due waits for the session's next commit, which says so anew.
 * J5 It is kept here by `working`; a job that is lost is left alone. A late ack would do no harm, for it follows a look
 *    that found nothing due.
 * J7 What no version can read becomes a dead letter; what a newer one can is left to it.
 * J8 A process that ends gives its jobs back, and that is no failure.
 * J9 Looks and work have a limit of time each: what hangs must neither keep its job for ever nor a process from ending.
 */
export class JobRun {
  readonly #base: JobBase;
  readonly #delivery: JobDelivery;
  readonly #hold: JobHold;
  readonly #onNewer: (version: number) => void;

  constructor(base: JobBase, delivery: JobDelivery, onNewer: (version: number) => void) {
    this.#base = base;
    this.#delivery = delivery;
    this.#hold = new JobHold(delivery, base.ports.clock, base.rules);
    this.#onNewer = onNewer;
  }

  interrupt(why: Interruption): void {
    this.#hold.interrupt(why);
  }

  /** Never rejects. */
  async run(): Promise<void> {
    try {
      await this.#hold.begin();
      await this.#judge();
    } catch (cause) {
      // Nothing was concluded: the job is delivered again when nobody says `working`.
      this.#trouble("a job", cause);
    } finally {
      this.#hold.end();
      this.#delivery.letGo();
    }
  }

  async #judge(): Promise<void> {
    const read = readJob(this.#delivery);
    if (read.kind === "ok") {
      await this.#attempt(read.message);
    } else if (read.kind === "newer") {
      this.#onNewer(read.version);
      this.#delivery.nak(this.#base.rules.newerMs);
    } else {
      await this.#bury(read.reason, 1);
    }
  }

  async #attempt(job: Job): Promise<void> {
    const { rules, ports } = this.#base;
    const { subject, trace } = this.#delivery;
    const ledger = new AttemptLedger(ports.attempts, this.#delivery);
    const opening = await ledger.open(ports.clock.now(), rules);
    switch (opening.kind) {
      case "fenced":
        return ports.observe({ kind: "lost", subject });
      case "exhausted":
        return this.#bury(opening.reason, rules.maxAttempts);
      case "early":
        return this.#giveBack("early", opening.leftMs);
      case "open": {
        ports.observe({ kind: "begun", subject, attempt: opening.failures + 1 });
        const work = new JobWork(this.#base, { job, subject, trace, hold: this.#hold }, opening.failures);
        const end = await work.run();
        return this.#end(job, end, { ledger, failures: work.failures });
      }
    }
  }

  async #end(job: Job, end: WorkEnd, tally: Tally): Promise<void> {
    const { ports, rules } = this.#base;
    const { subject } = this.#delivery;
    if (end.kind === "lost" || this.#hold.isLost) return ports.observe({ kind: "lost", subject });
    switch (end.kind) {
      case "settled":
        return this.#settle(job);
      case "failed":
        return this.#fail(tally, end);
      case "hopeless":
        return this.#fail({ ...tally, failures: rules.maxAttempts - 1 }, { reason: end.reason, afterMs: 0 });
      case "given-back":
        if (await this.#close(tally, { failures: tally.failures, reason: "", pauseMs: 0 })) {
          this.#giveBack(end.why, end.delayMs);
        }
    }
  }

  /** J3 */
  async #settle(job: Job): Promise<void> {
    const { handler, ports, rules } = this.#base;
    const { subject } = this.#delivery;
    const isGone = await this.#surely("the ack of a job", () => this.#delivery.ack());
    // Not by way of the hold, which is over with the ack: a look that hangs would keep the process from ending.
    const look = await withLimit(ports.clock, rules.lookMs, () => handler.due(job.session as SessionKey)).catch(
      () => undefined,
    );
    // An ack in doubt, a failed look or one at an old state may have missed something: a job too many costs a look.
    const isClear = isGone && look?.due === null && look.generation >= job.generation;
    if (!isClear) {
      const next = nextJob(job, Math.max(job.generation, look?.generation ?? 0), this.#delivery);
      if (!(await this.#surely("the next job", () => this.#publish(next)))) return;
    }
    ports.observe({ kind: "settled", subject, again: !isClear });
  }

  /** J4 */
  async #fail(tally: Tally, { reason, afterMs }: { readonly reason: string; readonly afterMs: number }): Promise<void> {
    const { ports, rules } = this.#base;
    const { subject } = this.#delivery;
    const failures = tally.failures + 1;
    const isLast = failures >= rules.maxAttempts;
    const pauseMs = isLast ? 0 : Math.max(afterMs, backoffMs(rules, failures, ports.random()));
    if (!(await this.#close(tally, { failures, reason, pauseMs }))) return;
    ports.observe({ kind: "failed", subject, failures, reason });
    if (isLast) await this.#bury(reason, failures);
    else this.#delivery.nak(pauseMs);
  }

  /** Whether the job is still this process's to speak about. A write whose outcome is unknown leaves it open: a failure. */
  async #close(tally: Tally, closing: { failures: number; reason: string; pauseMs: number }): Promise<boolean> {
    const { ports } = this.#base;
    const { failures, reason, pauseMs } = closing;
    try {
      if (await tally.ledger.close({ failures, reason, notBefore: ports.clock.now() + pauseMs })) return true;
    } catch (cause) {
      this.#trouble("the record of an attempt", cause);
      return true;
    }
    ports.observe({ kind: "lost", subject: this.#delivery.subject });
    return false;
  }

  /** First the dead letter, then the ack: a crash in between publishes it once more, under the same id. */
  async #bury(reason: string, failures: number): Promise<void> {
    const { ports, rules } = this.#base;
    const { subject } = this.#delivery;
    try {
      await this.#publish(deadJob(this.#delivery, reason));
    } catch (cause) {
      this.#trouble("a dead letter", cause);
      return this.#delivery.nak(backoffMs(rules, failures, ports.random()));
    }
    ports.observe({ kind: "dead", subject, reason });
    await this.#surely("the ack of a dead job", () => this.#delivery.ack());
  }

  #giveBack(why: "turns" | "others" | "drain" | "early", delayMs: number): void {
    this.#base.ports.observe({ kind: "given-back", subject: this.#delivery.subject, why });
    this.#delivery.nak(delayMs);
  }

  #publish(effect: ListedPublish): Promise<unknown> {
    return this.#base.ports.publish.publish(effect);
  }

  /** Whether it is known to have happened. Tries some times; afterwards it is as if the process had died here. */
  async #surely(what: string, action: () => Promise<unknown>): Promise<boolean> {
    const { ports, rules } = this.#base;
    for (let left = rules.settleTries; left > 0; left--) {
      try {
        await action();
        return true;
      } catch (cause) {
        this.#trouble(what, cause);
      }
      if (left > 1) await new Promise<void>((resolve) => ports.clock.after(rules.settlePauseMs, resolve));
    }
    return false;
  }

  #trouble(what: string, cause: unknown): void {
    this.#base.ports.observe({ kind: "trouble", subject: this.#delivery.subject, what, cause });
  }
}

interface Tally {
  readonly ledger: AttemptLedger;
  readonly failures: number;
}

/** J7: a body that says otherwise than its subject is no job of either. */
function readJob({ subject, text }: JobDelivery) {
  const address = parseJobSubject(subject);
  if (address === undefined) return { kind: "invalid", reason: "the subject is no job's" } as const;
  const read = decode(Job, text);
  if (read.kind !== "ok") return read;
  const { kind, session } = read.message;
  if (kind === address.kind && session === address.key) return read;
  return { kind: "invalid", reason: `the body speaks of "${kind}" of ${session}` } as const;
}
