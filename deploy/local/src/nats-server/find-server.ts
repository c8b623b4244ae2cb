import { access, constants, mkdir } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { reasonOf } from "../start-failure.js";
import { fromDistribution } from "./distribution-package.js";
import { fromOfficialRelease } from "./official-release.js";
import { isNewEnough, NEEDED_VERSION, versionOf } from "./server-version.js";

/** A NATS server binary that is new enough, or the one line that says why there is none and what to do. */
export type FoundServer =
  | {
      readonly kind: "binary";
      readonly path: string;
      readonly version: string;
      readonly origin: string;
    }
  | { readonly kind: "none"; readonly reason: string };

/** A place to get a server from: puts a binary at `target`, or returns the reason why it could not. */
export type Obtain = (target: string, say: (line: string) => void) => Promise<string | undefined>;

export interface FindServerOptions {
  /** Folder of the clone; the cache lies in its `.cache/nats-server`. */
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  /** Takes lines of progress: fetching takes seconds. */
  readonly say: (line: string) => void;
  /** Where to get a server that the machine does not have, in order; by default distribution, then official release. */
  readonly sources?: readonly (readonly [name: string, obtain: Obtain])[];
}

const SOURCES = [
  ["the distribution's package", fromDistribution],
  ["the official release", fromOfficialRelease],
] as const;

/**
 * Finds a NATS server: `NATS_SERVER_BIN`, `PATH`, the project's cache, and else fetches one into that cache. Each
 * candidate is asked for its version; the reasons why candidates were passed over become part of the refusal.
 */
export async function findServerBinary(options: FindServerOptions): Promise<FoundServer> {
  const refusals: string[] = [];
  for (const [origin, path] of await candidatesOnMachine(options)) {
    const found = await judge(origin, path, refusals);
    if (found !== undefined) return found;
  }
  const cached = cachedServer(options.root);
  const unwritable = await mkdir(dirname(cached), { recursive: true }).then(() => undefined, reasonOf);
  if (unwritable !== undefined) refusals.push(`cache: ${unwritable}`);
  for (const [origin, obtain] of unwritable === undefined ? (options.sources ?? SOURCES) : []) {
    const refusal = await obtain(cached, options.say);
    if (refusal !== undefined) {
      refusals.push(`${origin}: ${refusal}`);
      continue;
    }
    const found = await judge(origin, cached, refusals);
    if (found !== undefined) return found;
  }
  const advice = `install nats-server ${NEEDED_VERSION} or newer, or name one in NATS_SERVER_BIN or NATS_URL`;
  return { kind: "none", reason: `no NATS server: ${advice} (${refusals.join("; ")})` };
}

/** Where a fetched server is kept. */
export function cachedServer(root: string): string {
  return join(root, ".cache", "nats-server", "nats-server");
}

async function candidatesOnMachine({ root, env }: FindServerOptions): Promise<[origin: string, path: string][]> {
  const candidates: [string, string][] = [];
  // Named by the user, so a wrong path must show up among the reasons; the other places are merely looked at.
  if (env.NATS_SERVER_BIN) candidates.push(["NATS_SERVER_BIN", env.NATS_SERVER_BIN]);
  for (const folder of (env.PATH ?? "").split(delimiter)) {
    const path = join(folder, "nats-server");
    if (folder !== "" && (await isExecutable(path))) candidates.push([`PATH, ${path}`, path]);
  }
  const cached = cachedServer(root);
  if (await isExecutable(cached)) candidates.push(["cache", cached]);
  return candidates;
}

async function judge(origin: string, path: string, refusals: string[]): Promise<FoundServer | undefined> {
  const version = await versionOf(path);
  if (version !== undefined && isNewEnough(version)) return { kind: "binary", path, version, origin };
  if (version === undefined) refusals.push(`${origin}: ${path} does not run as a NATS server`);
  else refusals.push(`${origin}: version ${version} found, ${NEEDED_VERSION} needed`);
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
