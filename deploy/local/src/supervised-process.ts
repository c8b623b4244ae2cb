/**
 * One child process that is kept alive: started, found ready, started again with back-off when it dies, stopped.
 *
 * S1 A child never outlives us. Its standard input is a pipe that we hold and never write: whatever ends us closes it,
 *    and the child ends itself. When we end it, its process group is killed too, so that its own children go as well.
 * S2 A child has a process group of its own, so Ctrl-C in the terminal reaches us alone and we decide the order.
 * S3 A first start that ends with exit code 1 or 2 is a refusal (a port is taken, a setting is wrong): trying again
 *    would not help. Any other end is an accident and leads to another try.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { eachLine } from "./line-splitter.js";
import { readLogLine } from "./log-line.js";
import { RestartDelay } from "./restart-delay.js";
import { StartFailure } from "./start-failure.js";

/** What a child has told by the time it is ready. */
export interface Ready {
  readonly url?: string;
}

export interface ProcessSpec {
  readonly name: string;
  readonly command: string;
  /** Asked at every start, since a restarted process may have to keep the port that it got at its first start. */
  readonly args: () => readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** `ipc`: a message `{ready: true}`, and `url` in it or in an earlier one; else a line of its output that matches. */
  readonly ready: "ipc" | RegExp;
  readonly readyWithinMs?: number;
}

export interface ProcessListener {
  /** A line of the child's output. */
  line(name: string, text: string): void;
  /** Something the user should know about the child itself. */
  notice(text: string): void;
}

const READY_WITHIN_MS = 60_000;

export class SupervisedProcess {
  readonly name: string;
  readonly #spec: ProcessSpec;
  readonly #listener: ProcessListener;
  readonly #delay = new RestartDelay();
  #child: ChildProcess | undefined;
  #state: "idle" | "starting" | "ready" | "waiting" | "stopping" | "stopped" = "idle";
  #timer: NodeJS.Timeout | undefined;
  #readyAt = 0;
  #lastLine = "";
  #url: string | undefined;
  #firstStart: { resolve(ready: Ready): void; reject(error: StartFailure): void } | undefined;
  #onStopped: () => void = () => undefined;

  constructor(spec: ProcessSpec, listener: ProcessListener) {
    this.name = spec.name;
    this.#spec = spec;
    this.#listener = listener;
  }

  /** Process id of the child that runs now. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /**
   * Starts the child and resolves when it is ready for the first time.
   *
   * @throws StartFailure when it refuses to start (S3) or is not ready in time
   */
  start(): Promise<Ready> {
    return new Promise((resolve, reject) => {
      if (this.#state !== "idle") return reject(new StartFailure(`${this.name}: stopped before it was started`));
      this.#firstStart = { resolve, reject };
      this.#spawn();
    });
  }

  /** Asks the child to end and kills it when it has not within `limitMs`. Resolves when it is gone. */
  async stop(limitMs: number): Promise<void> {
    clearTimeout(this.#timer);
    const child = this.#child;
    const wasRunning = this.#state === "starting" || this.#state === "ready" || this.#state === "stopping";
    this.#state = wasRunning && child !== undefined ? "stopping" : "stopped";
    this.#failFirstStart("stopped while starting");
    if (this.#state === "stopped" || child === undefined) return;
    const stopped = new Promise<void>((resolve) => {
      this.#onStopped = resolve;
    });
    child.kill("SIGTERM");
    const killer = setTimeout(() => this.killNow(), Math.max(0, limitMs));
    await stopped;
    clearTimeout(killer);
  }

  /** Kills the child and all of its process group at once. */
  killNow(): void {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // Nobody is left in the group.
    }
  }

  #spawn(): void {
    const { command, args, env, ready, readyWithinMs = READY_WITHIN_MS } = this.#spec;
    this.#state = "starting";
    this.#lastLine = "";
    const child = spawn(command, [...args()], {
      env,
      detached: true, // S2
      stdio: ready === "ipc" ? ["pipe", "pipe", "pipe", "ipc"] : ["pipe", "pipe", "pipe"],
    });
    this.#child = child;
    child.stdin?.on("error", () => undefined);
    if (child.stdout !== null) eachLine(child.stdout, (line) => this.#take(line));
    if (child.stderr !== null) {
      eachLine(child.stderr, (line) => {
        // The reason of a refusal is the last thing said here; the log on stdout may go on after it.
        if (line.trim() !== "") this.#lastLine = line;
        this.#take(line);
      });
    }
    child.on("message", (message) => {
      if (ready === "ipc") this.#takeMessage(message);
    });
    let code: number | null = null;
    child.on("error", (error) => {
      this.#lastLine = error.message;
      if (child.pid === undefined) this.#ended(child, 1);
    });
    child.on("exit", (status) => {
      code = status;
      this.killNow(); // S1
    });
    child.on("close", () => this.#ended(child, code));
    this.#timer = setTimeout(() => this.#tooLate(readyWithinMs), readyWithinMs);
  }

  #take(line: string): void {
    this.#listener.line(this.name, line);
    const { ready } = this.#spec;
    if (ready !== "ipc" && ready.test(line)) this.#becomeReady({});
  }

  #takeMessage(message: unknown): void {
    if (typeof message !== "object" || message === null) return;
    if ("url" in message && typeof message.url === "string") this.#url = message.url;
    if (!("ready" in message) || message.ready !== true) return;
    this.#becomeReady(this.#url === undefined ? {} : { url: this.#url });
  }

  #becomeReady(ready: Ready): void {
    if (this.#state !== "starting") return;
    clearTimeout(this.#timer);
    this.#state = "ready";
    this.#readyAt = performance.now();
    if (this.#firstStart === undefined) this.#listener.notice(`${this.name} is back`);
    this.#firstStart?.resolve(ready);
    this.#firstStart = undefined;
  }

  #tooLate(limitMs: number): void {
    const reason = `not ready within ${limitMs / 1000} s`;
    if (this.#firstStart === undefined) this.#listener.notice(`${this.name} is ${reason}`);
    this.#failFirstStart(reason);
    this.killNow();
  }

  #ended(child: ChildProcess, code: number | null): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    clearTimeout(this.#timer);
    if (this.#state === "stopping" || this.#state === "stopped") {
      this.#state = "stopped";
      this.#onStopped();
      return;
    }
    const ranMs = this.#state === "ready" ? performance.now() - this.#readyAt : 0;
    if (this.#firstStart !== undefined && (code === 1 || code === 2)) {
      this.#state = "stopped";
      this.#failFirstStart(this.#lastLine || `ended with exit code ${code}`);
      return;
    }
    const delayMs = this.#delay.after(ranMs);
    const how = code === null ? `was killed (${child.signalCode ?? "?"})` : `ended with exit code ${code}`;
    this.#listener.notice(`${this.name} ${how}, starting it again in ${delayMs / 1000} s`);
    this.#state = "waiting";
    this.#timer = setTimeout(() => this.#spawn(), delayMs);
  }

  #failFirstStart(reason: string): void {
    const line = readLogLine(reason).text;
    this.#firstStart?.reject(new StartFailure(line.startsWith(this.name) ? line : `${this.name}: ${line}`));
    this.#firstStart = undefined;
  }
}
