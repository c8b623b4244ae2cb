import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { askApi, natsServerBinary, type ProcessEnd, ProcessOutput, projectRoot } from "@troupe/testkit";
import { vi } from "vitest";
import { Conversation } from "./conversation.js";

const READY_LIMIT_MS = 60_000;

/** One run of `npm start`, as a person or a service manager would do it. */
export class Installation {
  readonly dataFolder = mkdtempSync(join(tmpdir(), "troupe-start-"));
  readonly output = new ProcessOutput();
  readonly errors = new ProcessOutput();
  #child: ChildProcess | undefined;
  #startedAt = 0;
  #startMark = 0;
  #ended: Promise<ProcessEnd> = Promise.resolve({ code: null, signal: null });

  /** `command` by default is `npm start` in the clone. */
  start(
    env: Readonly<Record<string, string>> = {},
    command: readonly [file: string, ...args: string[]] = ["npm", "start"],
  ): void {
    const [file, ...args] = command;
    this.#startedAt = performance.now();
    this.#startMark = this.output.mark;
    const child = spawn(file, args, {
      cwd: projectRoot,
      // A group of its own, for a signal to the whole of it, as a terminal sends one.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env.PATH ?? "",
        HOME: this.dataFolder,
        NATS_SERVER_BIN: natsServerBinary(),
        TROUPE_DATA: this.dataFolder,
        TROUPE_HTTP_PORT: "0",
        ...env,
      },
    });
    this.#child = child;
    const read = [this.output.take(child.stdout), this.errors.take(child.stderr)];
    this.#ended = new Promise((resolve) => {
      child.once("close", (code, signal) => void Promise.all(read).then(() => resolve({ code, signal })));
    });
  }

  get ended(): Promise<ProcessEnd> {
    return this.#ended;
  }

  /** Time since it was started, in milliseconds. */
  get ageMs(): number {
    return performance.now() - this.#startedAt;
  }

  /** Resolves with the gateway's address when all of the latest start is ready. */
  async ready(): Promise<string> {
    const line = await Promise.race([
      this.output.waitFor(/ready in \d+ ms, console: \S+/, this.#startMark, READY_LIMIT_MS),
      this.#ended.then(() => Promise.reject(new Error(`it ended:\n${this.logs()}`))),
    ]);
    return new URL(/console: (\S+)/.exec(line)?.[1] ?? "").origin;
  }

  /** A conversation over its gateway, with the token that it has left for its owner. */
  async conversation(id: string): Promise<Conversation> {
    const url = await this.ready();
    const token = this.read("keys/http-token").trim();
    return new Conversation({ api: (path, request) => askApi(`${url}${path}`, token, request) }, id);
  }

  /** To the root of the process tree, or, as Ctrl-C does in a terminal, to all of its group. */
  signal(signal: NodeJS.Signals, to: "root" | "group" = "root"): void {
    const pid = this.#child?.pid;
    if (pid !== undefined) process.kill(to === "group" ? -pid : pid, signal);
  }

  read(name: string): string {
    const file = join(this.dataFolder, name);
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  }

  /** Command lines of all its processes, by process id. Linux only. */
  processes(): Map<number, string> {
    const found = new Map<number, string>();
    for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
      // All inherit this variable; what has ended but was not waited for has no environment any more.
      const environment = readProc(name, "environ").split("\0");
      if (!environment.includes(`TROUPE_DATA=${this.dataFolder}`)) continue;
      found.set(Number(name), readProc(name, "cmdline").replaceAll("\0", " ").trim());
    }
    return found;
  }

  /** The process whose command line matches. Linux only. */
  pidOf(pattern: RegExp): number {
    const found = [...this.processes()].find(([, command]) => pattern.test(command));
    if (found === undefined) throw new Error(`no process matches ${pattern}`);
    return found[0];
  }

  /** Proportional set size of each process in MiB, by command line. Linux only. */
  memory(): Map<string, number> {
    const sizes = new Map<string, number>();
    for (const [pid, command] of this.processes()) {
      const kib = Number(/^Pss:\s+(\d+) kB/m.exec(readProc(String(pid), "smaps_rollup"))?.[1] ?? 0);
      sizes.set(`${pid} ${command}`, kib / 1024);
    }
    return sizes;
  }

  /** Waits until no process is left. */
  async gone(limitMs: number): Promise<void> {
    await vi.waitFor(
      () => {
        const left = [...this.processes().values()];
        if (left.length > 0) throw new Error(`still running:\n${left.join("\n")}`);
      },
      { timeout: limitMs, interval: 20 },
    );
  }

  logs(): string {
    return [...this.output.lines, ...this.errors.lines].join("\n");
  }

  /** Ends whatever is left and removes its data. */
  async sweep(): Promise<void> {
    if (this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null) {
      this.signal("SIGTERM");
      const killer = setTimeout(() => this.signal("SIGKILL", "group"), READY_LIMIT_MS);
      await this.#ended;
      clearTimeout(killer);
    }
    rmSync(this.dataFolder, { recursive: true, force: true });
  }
}

function readProc(pid: string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}
