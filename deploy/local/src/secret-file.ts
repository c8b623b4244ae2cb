import { readFile, rename, rm, writeFile } from "node:fs/promises";

/**
 * Writes a file that only its owner may read. It appears whole or not at all: a reader never sees half of it, and a
 * full disk leaves the old one in place.
 */
export async function writeSecretFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.new`;
  try {
    await writeFile(draft, text, { mode: 0o600 });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** The object in a JSON file, or undefined when the file is not there or holds anything else. */
export async function readJsonObject(path: string): Promise<Record<string, unknown> | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
