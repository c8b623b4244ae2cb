/** A latch for one waiter: raised any number of times, it lets the waiter go on once. */
export class Wake {
  raise!: () => void;
  #raised = this.#renewed();

  /** Resolves as soon as it is or has been raised since the last wait. */
  async wait(): Promise<void> {
    await this.#raised;
    this.#raised = this.#renewed();
  }

  #renewed(): Promise<void> {
    return new Promise((resolve) => {
      this.raise = resolve;
    });
  }
}
