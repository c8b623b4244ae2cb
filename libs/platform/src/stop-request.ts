/** How long a second SIGINT may be an echo of the first: npm passes on what the terminal has already sent to all. */
const ECHO_MS = 200;

export interface StopHandlers {
  /** Asked to drain, by a signal or because the parent has gone. */
  readonly stop: (reason: string) => void;
  /** Asked a second time: to end at once. */
  readonly stopNow: (reason: string) => void;
  /** A defect that nobody caught. */
  readonly defect: (error: unknown) => void;
}

/**
 * Listens to everything that ends a process.
 *
 * @param supervised a supervisor holds this process's stdin: when the pipe ends the supervisor is gone, however it died.
 *   SIGINT is then the supervisor's alone to act on, because a terminal sends it to the whole group.
 */
export function onStopRequest(handlers: StopHandlers, supervised: boolean): void {
  let firstAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (supervised && signal === "SIGINT") return;
    const now = performance.now();
    if (firstAt === undefined) {
      firstAt = now;
      handlers.stop(signal);
    } else if (signal !== "SIGINT" || now - firstAt > ECHO_MS) {
      handlers.stopNow(signal);
    }
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  process.on("uncaughtException", handlers.defect);
  process.on("unhandledRejection", handlers.defect);
  if (!supervised) return;
  const gone = (): void => handlers.stop("the supervisor has gone");
  process.stdin.on("end", gone).on("error", gone).resume();
}
