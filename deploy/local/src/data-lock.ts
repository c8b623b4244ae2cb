import { readFileSync } from "node:fs";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { StartFailure } from "./start-failure.js";

/** Held by the one supervisor that may use a data folder. */
export interface DataLock {
  release(): Promise<void>;
}

/**
 * Takes the lock of a data folder: the file `lock`, which names the process that holds it. A lock whose process is
 * gone is taken over. Two servers on one JetStream store would destroy it.
 *
 * @throws StartFailure naming the process that holds the lock
 */
export async function lockDataFolder(folder: string): Promise<DataLock> {
  const path = join(folder, "lock");
  const mine = `${path}.${process.pid}`;
  const content = `${process.pid} ${startOf(process.pid)}\n`;
  await writeFile(mine, content, { mode: 0o600 });
  try {
    // A link appears with its content in one step, and only if nothing is there yet.
    while (!(await tryLink(mine, path))) await removeStale(folder, path);
  } finally {
    await rm(mine, { force: true });
  }
  return {
    release: async () => {
      if ((await readFile(path, "utf8").catch(() => "")) === content) await rm(path, { force: true });
    },
  };
}

async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

/** Moves a dead process's lock away; renaming makes sure that of two starts only one gets to remove it. */
async function removeStale(folder: string, path: string): Promise<void> {
  const held = await readFile(path, "utf8").catch(() => "");
  if (isHeld(held)) throw inUse(folder, held);
  const aside = `${path}.stale.${process.pid}`;
  await rename(path, aside).catch(() => undefined);
  const moved = await readFile(aside, "utf8").catch(() => "");
  // Between our look and our move another start may have taken over: it gets its lock back.
  if (isHeld(moved)) {
    await link(aside, path).catch(() => undefined);
    await rm(aside, { force: true });
    throw inUse(folder, moved);
  }
  await rm(aside, { force: true });
}

function inUse(folder: string, held: string): StartFailure {
  const pid = held.split(" ")[0] ?? "?";
  return new StartFailure(`already running on ${folder} (process ${pid}); stop it, or name another TROUPE_DATA`);
}

function isHeld(content: string): boolean {
  const [pid, start] = content.trim().split(" ");
  if (pid === undefined || !/^\d+$/.test(pid) || !isAlive(Number(pid))) return false;
  return start === undefined || start === startOf(Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/**
 * When a process was started, in the kernel's ticks, so that a number given to another process after a reboot is not
 * taken for the old holder. Systems without /proc answer "-" for all.
 */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the name in parentheses, which may itself contain anything.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "-";
  } catch {
    return "-";
  }
}
