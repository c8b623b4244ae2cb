import { mkdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { reasonOf, StartFailure } from "./start-failure.js";

/** A block of the usual size: on a full disk an empty file can still be made, one with content cannot. */
const PROBE = "x".repeat(4096);

/** Where everything lies that a start on this machine keeps: `TROUPE_DATA`, else `.troupe` in the clone. */
export function dataFolderOf(env: NodeJS.ProcessEnv, root: string): string {
  return resolve(env.TROUPE_DATA || join(root, ".troupe"));
}

/** Makes the data folder, readable by its owner alone, and proves that it can be written. */
export async function openDataFolder(env: NodeJS.ProcessEnv, root: string): Promise<string> {
  const folder = dataFolderOf(env, root);
  const probe = join(folder, `.probe-${process.pid}`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(probe, PROBE);
  } catch (error) {
    throw new StartFailure(`data folder ${folder}: ${reasonOf(error)}; TROUPE_DATA names another`);
  } finally {
    await rm(probe, { force: true }).catch(() => undefined);
  }
  return folder;
}
