import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { vi } from "vitest";

const project = fileURLToPath(new URL("../", import.meta.url));
const tsc = fileURLToPath(import.meta.resolve("typescript/bin/tsc"));
const fixture = join(project, "test/fixtures/up.mjs");

/** The supervisor runs from built output, here as everywhere. */
export function buildProject(): void {
  execFileSync(process.execPath, [tsc, "-b", project], { stdio: "inherit" });
}

/** A data folder, the starts made on it, and a broom. */
export class Installation {
  readonly dataFolder = mkdtempSync(join(tmpdir(), "troupe-up-"));
  readonly #env: NodeJS.ProcessEnv;
  readonly #starts: Start[] = [];

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  get env(): NodeJS.ProcessEnv {
    return { ...this.#env, TROUPE_DATA: this.dataFolder };
  }

  start(env: NodeJS.ProcessEnv = {}): Start {
    return this.#begin(new Start([process.execPath, fixture], { ...this.env, ...env }));
  }

  /** A start in a terminal of its own; what is written to its `stdin` is typed there. */
  startInTerminal(): Start {
    const command = `exec ${process.execPath} ${fixture}`;
    return this.#begin(new Start(["script", "-qefc", command, "/dev/null"], this.env));
  }

  #begin(start: Start): Start {
    this.#starts.push(start);
    return start;
  }

  /** Command lines of everything that runs below any start of this installation, by process id. */
  processes(): Map<number, string> {
    const found = new Map<number, string>();
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      // All inherit this variable; a process that has ended but was not waited for has no environment any more.
      const environment = readProc(pid, "environ").split("\0");
      if (!environment.includes(`TROUPE_DATA=${this.dataFolder}`)) continue;
      found.set(Number(pid), readProc(pid, "cmdline").replaceAll("\0", " "));
    }
    return found;
  }

  /** The process whose command line matches. */
  pidOf(pattern: RegExp): number {
    const found = [...this.processes()].find(([, command]) => pattern.test(command));
    if (found === undefined) throw new Error(`no process matches ${pattern}`);
    return found[0];
  }

  read(name: string): string {
    const file = join(this.dataFolder, name);
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  }

  /** Waits until nothing is left of all starts. */
  async gone(): Promise<void> {
    await vi.waitFor(
      () => {
        const left = [...this.processes().values()];
        if (left.length > 0) throw new Error(`still running:\n${left.join("\n")}`);
      },
      { interval: 20 },
    );
  }

  async sweep(): Promise<void> {
    for (const start of this.#starts) start.child.kill("SIGKILL");
    for (const pid of this.processes().keys()) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has just gone by itself.
      }
    }
    await this.gone();
    rmSync(this.dataFolder, { recursive: true, force: true });
  }
}

/** One run of the supervisor. */
export class Start {
  readonly child: ChildProcess;
  out = "";
  err = "";
  /** Exit code or signal. */
  readonly ended: Promise<number | string>;

  constructor([command = "", ...args]: string[], env: NodeJS.ProcessEnv) {
    this.child = spawn(command, args, { env, stdio: ["pipe", "pipe", "pipe"] });
    this.child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.out += text;
    });
    this.child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.err += text;
    });
    this.ended = once(this.child, "close").then(([code, signal]) => code ?? signal);
  }

  /** Waits until its output matches, and returns the match. */
  says(pattern: RegExp): Promise<RegExpExecArray> {
    return vi.waitFor(
      () => {
        const match = pattern.exec(this.out);
        if (match === null) throw new Error(`not said: ${pattern}\n${this.out}${this.err}`);
        return match;
      },
      { interval: 20 },
    );
  }

  get isReady(): Promise<RegExpExecArray> {
    return this.says(/ready in \d+ ms, console: (\S+)/);
  }
}

function readProc(pid: string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}
