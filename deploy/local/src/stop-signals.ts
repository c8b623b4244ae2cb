/** npm passes on what the terminal has already sent to everyone, so one Ctrl-C arrives twice. */
const ECHO_MS = 300;
const PARENT_CHECK_MS = 1_000;

/** What asks a start to stop: signals, and the end of the npm that runs it. */
export class StopSignals {
  /** Resolves with the reason when asked to stop. */
  readonly requested: Promise<string>;
  /** Set while a chat owns the terminal: Ctrl-C is then the chat's to understand. */
  ignoreInterrupt = false;
  /** Why, once asked to stop. */
  reason: string | undefined;
  #firstAt: number | undefined;
  #request: (reason: string) => void = () => undefined;

  /** @param stopNow called when asked a second time */
  constructor(stopNow: () => void) {
    this.requested = new Promise((resolve) => {
      this.#request = resolve;
    });
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(signal, () => {
        if (signal === "SIGINT" && this.ignoreInterrupt) return;
        if (this.#firstAt === undefined) this.#ask(signal);
        else if (performance.now() - this.#firstAt > ECHO_MS) stopNow();
      });
    }
    // npm may be killed with SIGKILL, which it cannot pass on. Others who start us may well leave us running.
    const parent = process.ppid;
    if (process.env.npm_lifecycle_event === undefined) return;
    setInterval(() => {
      if (process.ppid !== parent && this.#firstAt === undefined) this.#ask("npm has gone");
    }, PARENT_CHECK_MS).unref();
  }

  #ask(reason: string): void {
    this.#firstAt = performance.now();
    this.reason = reason;
    this.#request(reason);
  }
}
