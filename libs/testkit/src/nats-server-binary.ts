import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Path of the server binary for tests: `NATS_SERVER_BIN`, else on `PATH`, else the one that `npm test` once fetched
 * into the clone's cache.
 *
 * @throws Error that says how to get one
 */
export function natsServerBinary(env: NodeJS.ProcessEnv = process.env): string {
  if (env.NATS_SERVER_BIN) return env.NATS_SERVER_BIN;
  const cached = fileURLToPath(new URL("../../../.cache/nats-server/nats-server", import.meta.url));
  // An old server of the machine must not win over the one that was fetched because of it.
  const onPath = (env.PATH ?? "").split(delimiter).map((folder) => join(folder, "nats-server"));
  const found = [cached, ...onPath].find(isExecutable);
  if (found !== undefined) return found;
  throw new Error("no NATS server for the tests: run `npm test` once, or set NATS_SERVER_BIN");
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
