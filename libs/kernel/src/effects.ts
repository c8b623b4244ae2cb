import { type ListedPublish, type ListedRun, openOf, publishesOf, runsOf } from "./entry.js";
import type { StartedRun } from "./ports.js";
import type { ActivationBase, Tenure } from "./tenure.js";
import { reasonOf, resultWork, resumedWork, type RunWork } from "./work.js";

/**
 * What stored entries list, until it is done: publishes, made in order, each until it is confirmed, and runs under way.
 *
 * K3 Publishing copies; ids and bodies come from the entry. What was listed before this activation
 *    began is published again only if its doorbell is still in MAIL: a bell that is gone was acked,
 *    and that happens only after everything it caused was confirmed.
 * K4 A result counts only while its run is listed under this activation's lease.
 * K5 Nothing is published by a process that stood still for so long that others may have gone on: what is
 *    listed may have been published and erased since. A run whose doing can be noticed waits for a lease that
 *    nobody can doubt.
 */
const RETRY_MS = 200;

interface Running<R, O> {
  readonly started: StartedRun<O>;
  end?: RunWork<R, O>;
}

export class Effects<F, M, R, O> {
  readonly #base: ActivationBase<F, M, R, O>;
  readonly #tenure: Tenure<F, M, R, O>;
  readonly #running = new Map<string, Running<R, O>>();

  constructor(base: ActivationBase<F, M, R, O>, tenure: Tenure<F, M, R, O>) {
    this.#base = base;
    this.#tenure = tenure;
  }

  get #unpublished(): ListedPublish[] {
    return publishesOf({ outstanding: openOf(this.#tenure) });
  }

  /** Milliseconds until a publish that failed is to be tried again; Infinity when none has. */
  get retryInMs(): number {
    return this.#unpublished.length > 0 ? RETRY_MS : Infinity;
  }

  /** What has ended among the runs. */
  get results(): RunWork<R, O>[] {
    return runsOf(this.#tenure.entry).flatMap((run) => this.#running.get(run.id)?.end ?? []);
  }

  /** Finds out which effects of an entry found at the start are known to be published. */
  async learn(): Promise<void> {
    const { mail } = this.#base.ports;
    const effects = this.#unpublished;
    const ask = async (bell: number | null) => {
      if (bell === null || (await mail.waiting(bell))) return;
      for (const effect of effects) if (effect.bell === bell) this.#tenure.confirmed.add(effect.id);
    };
    await Promise.all([...new Set(effects.map((effect) => effect.bell))].map(ask));
  }

  /** Publishes what is not yet; fenced once the entry is outdated. */
  async publish(): Promise<void> {
    const { key, ports } = this.#base;
    for (const effect of this.#unpublished) {
      this.#tenure.hold();
      try {
        await ports.publish.publish(effect);
      } catch (cause) {
        return ports.observe({ kind: "trouble", key, what: `publish to ${effect.subject}`, cause });
      }
      this.#tenure.confirmed.add(effect.id);
      ports.observe({ kind: "point", point: "published", key, effect });
    }
  }

  /** Starts the runs that may be; whether one waits for another commit. */
  start(onEnd: () => void): boolean {
    const { entry, isHeld, isFresh } = this.#tenure;
    const waiting = isHeld ? runsOf(entry).filter(({ id }) => !this.#running.has(id)) : [];
    for (const run of waiting) if (isFresh || !run.sideEffect) this.#start(run, onEnd);
    return waiting.some(({ id }) => !this.#running.has(id));
  }

  #start(run: ListedRun<R>, onEnd: () => void): void {
    const { key, ports } = this.#base;
    const { epoch, fields } = this.#tenure.entry;
    const started = ports.runs.start(run.body, { key, runId: run.id, epoch, fields });
    const running: Running<R, O> = { started };
    const end = (work: RunWork<R, O>) => {
      running.end = work;
      onEnd();
    };
    this.#running.set(run.id, running);
    started.outcome.then(
      (outcome) => end(resultWork(run, outcome)),
      (cause: unknown) => end(resumedWork([run], reasonOf(cause))),
    );
  }

  /** Aborts and forgets all runs but these. */
  keepOnly(listed: readonly ListedRun<R>[]): void {
    for (const [id, { started, end }] of this.#running) {
      if (listed.some((run) => run.id === id)) continue;
      // One that has ended has nothing to abort, and an abort costs: it makes an error with a stack.
      if (end === undefined) started.abort();
      this.#running.delete(id);
    }
  }
}
