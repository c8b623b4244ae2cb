/** A latch for one waiter: raised any number of times, it lets the waiter go on once. */
export class Wake {
  #raised = false;
  #go: (() => void) | undefined;

  raise(): void {
    this.#raised = true;
    this.#go?.();
  }

  /** Resolves as soon as it is or has been raised since the last wait. */
  async wait(): Promise<void> {
    if (!this.#raised) {
      await new Promise<void>((resolve) => {
        this.#go = resolve;
      });
    }
    this.#raised = false;
    this.#go = undefined;
  }
}
