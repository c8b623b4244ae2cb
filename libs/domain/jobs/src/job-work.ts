import type { Job, SessionKey } from "@troupe/contracts";
import type { JobOutcome, Look } from "./job-handler.js";
import { Interrupted, type JobHold } from "./job-hold.js";
import type { JobBase } from "./job-ports.js";

/** How the work on a delivered job ended. */
export type WorkEnd =
  | { readonly kind: "settled" }
  | { readonly kind: "failed"; readonly reason: string; readonly afterMs: number }
  | { readonly kind: "hopeless"; readonly reason: string }
  | { readonly kind: "given-back"; readonly why: "turns" | "others" | "drain"; readonly delayMs: number }
  | { readonly kind: "lost" };

export interface WorkOn {
  readonly job: Job;
  readonly subject: string;
  readonly trace: string | undefined;
  readonly hold: JobHold;
}

/**
 * The work of one attempt: look, do the piece that is due, look again.
 *
 * J2 Only a look that finds nothing due ends it. It goes on while there is more, but not for ever: after so many pieces
 *    others have their turn. A piece that is due again although it was done is a failed attempt: what is paid for by the
 *    call must not go round in circles.
 * J6 Before each piece it makes room for turns when a provider is short.
 */
export class JobWork {
  /** Failed attempts in a row, before this one; a piece that was done and is not due any more begins a new row. */
  failures: number;
  readonly #base: JobBase;
  readonly #on: WorkOn;

  constructor(base: JobBase, on: WorkOn, failures: number) {
    this.#base = base;
    this.#on = on;
    this.failures = failures;
  }

  async run(): Promise<WorkEnd> {
    try {
      return await this.#rounds();
    } catch (cause) {
      if (!(cause instanceof Interrupted)) return failed(cause instanceof Error ? cause.message : String(cause));
      return cause.why === "lost" ? { kind: "lost" } : { kind: "given-back", why: "drain", delayMs: 0 };
    }
  }

  async #rounds(): Promise<WorkEnd> {
    const { rules } = this.#base;
    let before: { readonly piece: string; readonly isDone: boolean } | undefined;
    for (let round = 0; ; round++) {
      const { due, generation } = await this.#look();
      if (due === null) return { kind: "settled" };
      if (due === before?.piece) return failed(`"${due}" is due again although the work on it ended well`);
      if (before?.isDone === true) this.failures = 0;
      const standBackMs = this.#standBackMs();
      if (standBackMs > 0) return { kind: "given-back", why: "turns", delayMs: standBackMs };
      if (round === rules.maxRounds) return { kind: "given-back", why: "others", delayMs: rules.yieldMs };
      const outcome = await this.#work(due, generation);
      if (outcome.kind === "retry") return failed(outcome.reason, outcome.afterMs);
      if (outcome.kind === "give-up") return { kind: "hopeless", reason: outcome.reason };
      before = { piece: due, isDone: outcome.kind === "done" };
    }
  }

  async #look(): Promise<Look> {
    const { job, hold } = this.#on;
    const { handler, rules } = this.#base;
    const look = await hold.race(() => handler.due(job.session as SessionKey), rules.lookMs);
    if (look.generation < job.generation) throw new Error(oldState(look, job));
    return look;
  }

  async #work(piece: string, generation: number): Promise<JobOutcome> {
    const { handler, ports, rules } = this.#base;
    const { job, subject, trace, hold } = this.#on;
    const task = { key: job.session as SessionKey, generation, piece, trace };
    const outcome = await hold.race(() => handler.work(task, hold.signal), rules.workMs);
    if (outcome.kind === "done" || outcome.kind === "stale") {
      ports.observe({ kind: "worked", subject, piece, how: outcome.kind });
    }
    return outcome;
  }

  /** Spread, for the provider may be short of room for all of them again. */
  #standBackMs(): number {
    const ms = this.#base.handler.standBackMs?.() ?? 0;
    return ms * (1 + this.#base.ports.random() / 2);
  }
}

function failed(reason: string, afterMs = 0): WorkEnd {
  return { kind: "failed", reason: reason || "without a reason", afterMs };
}

function oldState(look: Look, job: Job): string {
  return `the state that was read (generation ${look.generation}) is older than the job (${job.generation})`;
}
