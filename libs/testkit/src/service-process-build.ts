import { spawn } from "node:child_process";
import { mkdir, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** Folder of the clone. */
export const projectRoot = fileURLToPath(new URL("../../../", import.meta.url));

const LOCK_RETRY_MS = 50;
let built: Promise<void> | undefined;

/**
 * Makes sure that the services' built output is that of their sources, by the same check that `npm start` makes; it
 * costs milliseconds when nothing has changed. Test processes that run side by side take turns.
 *
 * @throws Error with the compiler's output
 */
export function ensureBuilt(): Promise<void> {
  built ??= build();
  return built;
}

async function build(): Promise<void> {
  const unlock = await lock(join(projectRoot, ".cache", "test-build.lock"));
  try {
    const setup = new URL("../../../deploy/local/setup.mjs", import.meta.url);
    await run(`import(${JSON.stringify(setup.href)}).then((setup) => setup.build())`);
  } finally {
    await unlock();
  }
}

function run(script: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["-e", script], { cwd: projectRoot, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    }
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve() : reject(new Error(`the build failed:\n${output}`))));
  });
}

/** A file that names the process that holds the lock; one whose process has gone is nobody's. */
async function lock(path: string): Promise<() => Promise<void>> {
  await mkdir(join(projectRoot, ".cache"), { recursive: true });
  for (;;) {
    try {
      const file = await open(path, "wx");
      await file.write(String(process.pid));
      await file.close();
      return () => rm(path, { force: true });
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
    const holder = Number(await readFile(path, "utf8").catch(() => ""));
    if (holder > 0 && !isRunning(holder)) await rm(path, { force: true });
    else await delay(LOCK_RETRY_MS);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
