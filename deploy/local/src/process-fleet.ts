import type { Ready, SupervisedProcess } from "./supervised-process.js";

/** Kept back for each process still to be stopped, so that one that hangs does not use up the time of the others. */
const SHARE_MS = 500;

/** All processes of a start: started as what they need becomes ready, stopped in reverse order of their adding. */
export class ProcessFleet {
  readonly #processes: SupervisedProcess[] = [];
  readonly #started = new Map<string, Promise<unknown>>();
  #stopping = false;

  /** Adds a process that `start` starts, in whatever way it needs. */
  run<T>(process: SupervisedProcess, start: () => Promise<T>): Promise<T> {
    return this.#add(process, [], start);
  }

  /**
   * Adds a process and starts it as soon as all it needs is ready. Needs that were never added do not hold it up.
   *
   * @param onReady what has to be done before those that need it are started
   * @returns what it told when it became ready; rejects with the StartFailure of it or of one that it needs
   */
  start(
    process: SupervisedProcess,
    needs: readonly string[] = [],
    onReady: (ready: Ready) => Promise<void> = async () => undefined,
  ): Promise<Ready> {
    return this.#add(process, needs, async () => {
      const ready = await process.start();
      await onReady(ready);
      return ready;
    });
  }

  /** Stops all within `limitMs`, the last added first; those that do not end in time are killed. */
  async stop(limitMs: number): Promise<void> {
    this.#stopping = true;
    const deadline = performance.now() + limitMs;
    const order = [...this.#processes].reverse();
    for (const [index, process] of order.entries()) {
      const left = deadline - performance.now() - SHARE_MS * (order.length - index - 1);
      await process.stop(Math.max(SHARE_MS, left));
    }
  }

  /** Kills all at once. */
  killNow(): void {
    this.#stopping = true;
    for (const process of this.#processes) process.killNow();
  }

  #add<T>(process: SupervisedProcess, needs: readonly string[], start: () => Promise<T>): Promise<T> {
    this.#processes.push(process);
    const begun = Promise.all(needs.map((name) => this.#started.get(name) ?? Promise.resolve())).then(() =>
      // Stopped meanwhile: a process started now would be left behind.
      this.#stopping ? new Promise<never>(() => undefined) : start(),
    );
    this.#started.set(process.name, begun);
    return begun;
  }
}
