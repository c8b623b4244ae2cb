import type { ListedRun } from "./entry.js";
import type { Work } from "./fold.js";
import type { RunContext, RunPort, StartedRun } from "./ports.js";

/**
 * Runs under way in this process. They are started from a stored entry only, and a result counts
 * only while its run is listed there under this activation's lease (K4).
 */
interface Running<O> {
  readonly started: StartedRun<O>;
  end?: { readonly ok: true; readonly outcome: O } | { readonly ok: false; readonly reason: string };
}

export class RunTable<F, R, O> {
  readonly #port: RunPort<F, R, O>;
  readonly #onEnd: () => void;
  readonly #running = new Map<string, Running<O>>();

  constructor(port: RunPort<F, R, O>, onEnd: () => void) {
    this.#port = port;
    this.#onEnd = onEnd;
  }

  has(id: string): boolean {
    return this.#running.has(id);
  }

  start(run: ListedRun<R>, context: RunContext<F>): void {
    const running: Running<O> = { started: this.#port.start(run.body, context) };
    this.#running.set(run.id, running);
    running.started.outcome.then(
      (outcome) => {
        running.end = { ok: true, outcome };
        this.#onEnd();
      },
      (cause: unknown) => {
        running.end = { ok: false, reason: cause instanceof Error ? cause.message : String(cause) };
        this.#onEnd();
      },
    );
  }

  /** What has ended among the listed runs. */
  results<M>(listed: readonly ListedRun<R>[]): Work<M, R, O>[] {
    const works: Work<M, R, O>[] = [];
    for (const run of listed) {
      const end = this.#running.get(run.id)?.end;
      if (end?.ok) works.push({ kind: "result", run, outcome: end.outcome });
      else if (end) works.push({ kind: "defect", run, reason: end.reason });
    }
    return works;
  }

  /** Aborts and forgets what the stored entry lists no more. */
  keepOnly(listed: readonly ListedRun<R>[]): void {
    const ids = new Set(listed.map((run) => run.id));
    for (const [id, running] of this.#running) {
      if (ids.has(id)) continue;
      running.started.abort();
      this.#running.delete(id);
    }
  }

  abortAll(): void {
    this.keepOnly([]);
  }
}
