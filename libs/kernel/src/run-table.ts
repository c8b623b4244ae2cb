import type { ListedRun } from "./entry.js";
import type { RunContext, RunPort, StartedRun } from "./ports.js";
import { resultWork, resumedWork, type RunWork } from "./work.js";

/**
 * Runs under way in this process. They are started from a stored entry only, and a result counts
 * only while its run is listed there under this activation's lease (K4).
 */
export class RunTable<F, R, O> {
  readonly #running = new Map<string, { readonly started: StartedRun<O>; end?: RunWork<R, O> }>();
  readonly #port: RunPort<F, R, O>;
  readonly #onEnd: () => void;

  constructor(port: RunPort<F, R, O>, onEnd: () => void) {
    this.#port = port;
    this.#onEnd = onEnd;
  }

  isUnderWay(run: ListedRun<R>): boolean {
    return this.#running.has(run.id);
  }

  /** Starts a run, unless it is under way. */
  start(run: ListedRun<R>, context: RunContext<F>): void {
    if (this.#running.has(run.id)) return;
    const running: { started: StartedRun<O>; end?: RunWork<R, O> } = { started: this.#port.start(run.body, context) };
    const end = (work: RunWork<R, O>) => {
      running.end = work;
      this.#onEnd();
    };
    this.#running.set(run.id, running);
    running.started.outcome.then(
      (outcome) => end(resultWork(run, outcome)),
      (cause: unknown) => end(resumedWork([run], cause instanceof Error ? cause.message : String(cause))),
    );
  }

  /** What has ended among the listed runs. */
  results(listed: readonly ListedRun<R>[]): RunWork<R, O>[] {
    return listed.flatMap((run) => this.#running.get(run.id)?.end ?? []);
  }

  /** Aborts and forgets what the stored entry lists no more. */
  keepOnly(listed: readonly ListedRun<R>[]): void {
    for (const [id, { started, end }] of this.#running) {
      if (listed.some((run) => run.id === id)) continue;
      // One that has ended has nothing to abort, and an abort costs: it makes an error with a stack.
      if (end === undefined) started.abort();
      this.#running.delete(id);
    }
  }
}
