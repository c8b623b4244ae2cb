import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createPrivateFile } from "./private-file.js";
import { StartError } from "./start-error.js";

/**
 * The bearer token of the HTTP API: the configured one, else the one in the data folder, made at first use. Processes
 * that start at the same time get the same token.
 *
 * @throws StartError when the file cannot be read or made
 */
export async function ensureToken(config: {
  readonly dataDir: string;
  readonly token?: string | undefined;
}): Promise<string> {
  if (config.token !== undefined) return config.token;
  const path = join(config.dataDir, "keys", "http-token");
  try {
    const found = await read(path);
    if (found !== undefined) return found;
    const made = randomBytes(32).toString("base64url");
    if (await createPrivateFile(path, `${made}\n`)) return made;
    return (await read(path)) ?? made;
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`cannot read or make the token file ${path}`, { cause: error });
  }
}

async function read(path: string): Promise<string | undefined> {
  let token: string;
  try {
    token = (await readFile(path, "utf8")).trim();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
  if (token === "") throw new StartError(`the token file ${path} is empty: remove it to have a new one made`);
  return token;
}
