import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A fixture script in a process of its own, with an environment of its own. */
export class FixtureProcess {
  readonly child: ChildProcess;
  /** After exit and the end of all output. */
  readonly exited: Promise<Exit>;
  stdout = "";
  stderr = "";
  #wakers: (() => void)[] = [];

  constructor(
    script: string,
    env: Record<string, string> = {},
    { args = [], stdio = ["ignore", "pipe", "pipe"] }: { args?: string[]; stdio?: StdioOptions } = {},
  ) {
    const path = fileURLToPath(new URL(`./fixtures/${script}.ts`, import.meta.url));
    const command = ["--conditions=troupe-source", "--import", "tsx", path, ...args];
    this.child = spawn(process.execPath, command, {
      stdio,
      env: { PATH: process.env.PATH, TROUPE_DATA: scratchFolder(), ...env },
    });
    this.child.stdout?.on("data", (chunk) => this.#wake(() => (this.stdout += String(chunk))));
    this.child.stderr?.on("data", (chunk) => this.#wake(() => (this.stderr += String(chunk))));
    this.exited = new Promise((resolve) => {
      this.child.on("close", (code, signal) => this.#wake(() => resolve({ code, signal })));
    });
  }

  /** The messages logged so far. */
  get messages(): string[] {
    return this.entries.map(({ msg }) => String(msg));
  }

  get entries(): Record<string, unknown>[] {
    const whole = this.stdout.slice(0, this.stdout.lastIndexOf("\n") + 1);
    return whole
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  }

  /** Resolves as soon as the output makes `condition` true; rejects when the process ends before. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        throw new Error(`ended too early\n${this.stdout}\n${this.stderr}`);
      }
      await new Promise<void>((resolve) => this.#wakers.push(resolve));
    }
  }

  logged(message: string): Promise<void> {
    return this.until(() => this.messages.includes(message));
  }

  #wake(change: () => void): void {
    change();
    for (const waker of this.#wakers.splice(0)) waker();
  }
}

const scratch: string[] = [];

/** An empty folder that lasts as long as the test file runs. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "troupe-platform-"));
  scratch.push(folder);
  return folder;
}

afterAll(() => {
  for (const folder of scratch) rmSync(folder, { recursive: true, force: true });
});
