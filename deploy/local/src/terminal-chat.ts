import { type ChildProcess, spawn } from "node:child_process";

/** The chat in this terminal. */
export class TerminalChat {
  readonly #child: ChildProcess;
  /** Resolves with the chat's exit code. */
  readonly ended: Promise<number>;

  /** Opens it; it shares our terminal and process group, since only the foreground group may read the keyboard. */
  constructor(entry: string, env: NodeJS.ProcessEnv) {
    this.#child = spawn(process.execPath, [entry, "chat"], {
      env,
      stdio: "inherit",
    });
    this.ended = new Promise((resolve) => {
      this.#child.on("error", () => resolve(1));
      this.#child.on("exit", (code) => resolve(code ?? 1));
    });
  }

  /** Ends it, kindly first. */
  async stop(limitMs: number): Promise<void> {
    this.#child.kill("SIGTERM");
    const killer = setTimeout(() => this.#child.kill("SIGKILL"), limitMs);
    await this.ended;
    clearTimeout(killer);
  }
}
