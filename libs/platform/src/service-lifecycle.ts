import { writeSync } from "node:fs";
import type { Health } from "./health.js";
import type { Logger } from "./logger.js";
import { PartStack } from "./part-stack.js";
import { redactText } from "./redaction.js";
import { StartError } from "./start-error.js";
import { onStopRequest } from "./stop-request.js";

export interface LifecycleOptions {
  readonly service: string;
  readonly log: Logger;
  readonly health: Health;
  readonly drainLimitMs: number;
  readonly supervised: boolean;
}

/** How long the exit may wait for somebody to read the last lines of the log. */
const FLUSH_LIMIT_MS = 250;

/**
 * Start, run, drain, exit: each once and in this order. The exit code is 0 after a drain that was asked for, else 1
 * with its reason in one line on stderr.
 */
export class ServiceLifecycle {
  readonly #options: LifecycleOptions;
  readonly #parts = new PartStack();
  readonly #stopping = new AbortController();
  #exitCode = 0;

  constructor(options: LifecycleOptions) {
    this.#options = options;
  }

  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  open<T>(name: string, open: () => T | Promise<T>, close?: (part: T) => unknown): Promise<T> {
    return this.#parts.open(name, open, close);
  }

  /** Resolves when the service is ready, or has begun to stop. */
  async run(start: () => Promise<void>): Promise<void> {
    const { log, health, supervised } = this.#options;
    onStopRequest(
      {
        stop: (reason) => this.#stop(reason),
        stopNow: (reason) => this.#exit(1, `ended at once by a second ${reason}, during: ${this.#parts.busy}`),
        defect: (error) => this.fail(error),
      },
      supervised,
    );
    // A service whose parts hold no socket yet, or no longer, must not end unasked and with exit code 0.
    setInterval(() => {}, 2 ** 30);
    try {
      await start();
    } catch (error) {
      this.#startFailed(error);
    }
    if (this.stopping.aborted) return;
    health.enter("running");
    log.info("ready");
    // Without the callback a supervisor that is just going would turn this into a defect.
    if (process.connected) process.send?.({ ready: true }, undefined, undefined, () => {});
  }

  /** A defect, or a part that is broken for good: said once, with its stack, then drained. */
  fail(error: unknown): void {
    const { log } = this.#options;
    log.fatal({ err: error instanceof Error ? error : new Error(String(error)) }, "stopping because of a failure");
    if (this.#exitCode === 0) this.#say(`failed: ${firstLine(error)}`);
    this.#exitCode = 1;
    this.#stop("failure");
  }

  #startFailed(error: unknown): void {
    // Parts that give up because draining has begun are no news.
    if (this.stopping.aborted) return;
    const part = this.#parts.failed;
    const expected = error instanceof StartError;
    if (!expected) this.#options.log.fatal({ err: error }, "start failed");
    this.#say(expected || part === undefined ? firstLine(error) : `start of ${part} failed: ${firstLine(error)}`);
    this.#exitCode = 1;
    this.#stop("start failed");
  }

  #stop(reason: string): void {
    if (this.stopping.aborted) return;
    const { log, health, drainLimitMs } = this.#options;
    log.info({ reason }, "draining");
    health.enter("draining");
    setTimeout(
      () => this.#exit(1, `not drained within ${drainLimitMs} ms, given up during: ${this.#parts.busy}`),
      drainLimitMs,
    );
    this.#stopping.abort(new Error(`draining: ${reason}`));
    void this.#drain();
  }

  async #drain(): Promise<void> {
    const failures = await this.#parts.drain();
    for (const { part, error } of failures) {
      this.#options.log.error({ err: error, part }, "could not stop a part");
      this.#say(`stop of ${part} failed: ${firstLine(error)}`);
    }
    if (failures.length > 0) this.#exitCode = 1;
    if (this.#parts.isBusy) this.#options.log.warn(`left half open: ${this.#parts.busy}`);
    this.#options.log.info("stopped");
    this.#exit(this.#exitCode);
  }

  #exit(code: number, line?: string): void {
    if (line !== undefined) this.#say(line);
    const leave = (): void => process.exit(code);
    this.#options.log.flush(leave);
    setTimeout(leave, FLUSH_LIMIT_MS);
  }

  #say(line: string): void {
    try {
      writeSync(2, redactText(`${this.#options.service}: ${line}\n`));
    } catch {
      // Whoever read stderr is gone; the exit code still tells.
    }
  }
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}
