import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { projectRoot } from "./service-process-build.js";
import { ProcessOutput } from "./service-process-output.js";

export interface ServiceSpec {
  /** Shown before its lines in the logs. */
  readonly name: string;
  /** Folder in `services/`. */
  readonly service: string;
  /** Arguments of Node, for a process that is no service of the product; by default the service's built main file. */
  readonly argv?: readonly string[];
  /** The whole environment: nothing of the test's own is passed on. */
  readonly env: Readonly<Record<string, string>>;
}

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Only one that hangs takes this long; a busy machine is no failure. */
const READY_LIMIT_MS = 60_000;
/** Longer than a service may take to drain. */
const STOP_LIMIT_MS = 15_000;
/** Signals that a process survives. */
const NOT_ENDING = new Set<NodeJS.Signals>(["SIGSTOP", "SIGCONT"]);

/**
 * A service as a process of its own, run from its built output. It watches its standard input like under `npm start`,
 * so that it ends with the test process, however that ends.
 */
export class ServiceProcess {
  readonly name: string;
  readonly output = new ProcessOutput();
  readonly #spec: ServiceSpec;
  readonly #env: Record<string, string>;
  #child: ChildProcess | undefined;
  #ended: Promise<ProcessEnd> = Promise.resolve({ code: null, signal: null });
  #startMark = 0;

  constructor(spec: ServiceSpec) {
    this.name = spec.name;
    this.#spec = spec;
    this.#env = { ...spec.env, TROUPE_PARENT_WATCH: "1" };
  }

  /** Process id of the latest start. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves when the process of the latest start is gone and all it wrote has been read. */
  get ended(): Promise<ProcessEnd> {
    return this.#ended;
  }

  /** The value of a field of a log line since the latest start. */
  field(message: string, name: string): Promise<unknown> {
    return this.output.field(message, name, this.#startMark);
  }

  /**
   * Starts it and resolves when it says that it is ready.
   *
   * @param env changes for this start and later ones
   * @throws Error with its last lines when it ends instead, or takes too long
   */
  async start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    if (this.isRunning) throw new Error(`${this.name} runs already`);
    Object.assign(this.#env, env);
    this.#startMark = this.output.mark;
    const argv = this.#spec.argv ?? [join(projectRoot, "services", this.#spec.service, "dist", "main.js")];
    const child = spawn(process.execPath, argv, { env: this.#env, stdio: ["pipe", "pipe", "pipe", "ipc"] });
    this.#child = child;
    const killWithUs = (): void => void child.kill("SIGKILL");
    process.once("exit", killWithUs);
    child.stdin?.on("error", () => undefined);
    const read = [child.stdout, child.stderr].flatMap((stream) => (stream ? [this.output.take(stream)] : []));
    this.#ended = new Promise((resolve) => {
      child.once("close", (code, signal) => {
        process.off("exit", killWithUs);
        void Promise.all(read).then(() => resolve({ code, signal }));
      });
    });
    await this.#ready(child);
  }

  /** Sends a signal, SIGKILL by default; with one that ends it, resolves when it is gone. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<ProcessEnd | undefined> {
    if (this.isRunning) this.#child?.kill(signal);
    return NOT_ENDING.has(signal) ? undefined : this.#ended;
  }

  /** Halts it, as a laptop's lid or a long stop of the virtual machine would. */
  pause(): void {
    this.#child?.kill("SIGSTOP");
  }

  resume(): void {
    this.#child?.kill("SIGCONT");
  }

  /** Asks it to end, and ends it when it does not. */
  async stop(): Promise<void> {
    if (!this.isRunning) return;
    this.#child?.kill("SIGTERM");
    this.resume();
    const killer = setTimeout(() => this.#child?.kill("SIGKILL"), STOP_LIMIT_MS);
    await this.#ended;
    clearTimeout(killer);
  }

  /** The sum of a metric's samples, of all labels or of those that are named. */
  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const port = await this.field("metrics endpoint open", "port");
    const response = await fetch(`http://127.0.0.1:${String(port)}/metrics`);
    const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
    const samples = (await response.text())
      .split("\n")
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .filter((line) => wanted.every((label) => line.includes(label)));
    return samples.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
  }

  #ready(child: ChildProcess): Promise<void> {
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => fail(`was not ready within ${READY_LIMIT_MS} ms`), READY_LIMIT_MS);
      const fail = (what: string): void => {
        clearTimeout(limit);
        child.kill("SIGKILL");
        const said = this.output.lines.slice(this.#startMark).slice(-20).join("\n");
        reject(new Error(`${this.name} ${what}:\n${said}`));
      };
      child.on("error", (error) => fail(error.message));
      child.on("message", (message) => {
        if (typeof message !== "object" || message === null || !("ready" in message)) return;
        clearTimeout(limit);
        resolve();
      });
      void this.#ended.then(({ code, signal }) => fail(`ended with ${code ?? signal} before it was ready`));
    });
  }
}
