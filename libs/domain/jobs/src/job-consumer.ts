import type { JobDelivery } from "@troupe/contracts";
import type { JobBase } from "./job-ports.js";
import { JobRun } from "./job-run.js";

/**
 * Does the jobs of one kind in one process, some at a time (J6). The laws J1–J9 are in `job-run.ts`.
 *
 * It is not a scheduler: which jobs there are is for the commits to say that they are derived from, and what there is to
 * do for the handler.
 */
export class JobConsumer {
  readonly #base: JobBase;
  readonly #runs = new Set<JobRun>();
  readonly #newer = new Set<number>();
  #pull: { stop(): Promise<void> } | undefined;
  #onEmpty: (() => void)[] = [];
  #isDraining = false;

  constructor(base: JobBase) {
    this.#base = base;
  }

  /** Jobs in hand now. */
  get size(): number {
    return this.#runs.size;
  }

  /** Rejects when nothing can be pulled. */
  async start(): Promise<void> {
    const { handler, rules, ports } = this.#base;
    this.#pull = await ports.jobs.pull({
      kind: handler.kind,
      capacity: rules.concurrency,
      onJob: (delivery) => this.#take(delivery),
      onTrouble: (line) => ports.observe({ kind: "trouble", subject: `job.${handler.kind}`, what: line, cause: null }),
    });
  }

  /** J8: takes no more; what is not done within `graceMs` is given back. Resolves when nothing is in hand. */
  async drain(graceMs: number): Promise<void> {
    await this.#pull?.stop();
    const cancel = this.#base.ports.clock.after(graceMs, () => {
      this.#isDraining = true;
      for (const run of this.#runs) run.interrupt("drain");
    });
    while (this.#runs.size > 0) await new Promise<void>((resolve) => this.#onEmpty.push(resolve));
    cancel();
  }

  #take(delivery: JobDelivery): void {
    const run = new JobRun(this.#base, delivery, (version) => this.#sayNewer(delivery.subject, version));
    this.#runs.add(run);
    if (this.#isDraining) run.interrupt("drain");
    void run.run().then(() => {
      this.#runs.delete(run);
      if (this.#runs.size === 0) for (const resolve of this.#onEmpty.splice(0)) resolve();
    });
  }

  /** J7: said once, and not for each job and each time it comes by. */
  #sayNewer(subject: string, version: number): void {
    if (this.#newer.has(version)) return;
    this.#newer.add(version);
    this.#base.ports.observe({ kind: "newer", subject, version });
  }
}
