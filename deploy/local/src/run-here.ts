import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { serviceEntry } from "./service-table.js";
import { StartFailure } from "./start-failure.js";

/**
 * Becomes a service: loads its main file into this process with the command line it expects. Signals, the terminal
 * and the exit code are then its own, which passing them on between two processes would only imitate.
 *
 * @throws StartFailure when the service has not been built
 */
export async function runHere(service: string, args: readonly string[]): Promise<void> {
  const entry = serviceEntry(service);
  if (!existsSync(entry)) throw new StartFailure(`${service} has not been built: run npm start or npm run build`);
  process.argv.splice(1, process.argv.length - 1, entry, ...args);
  await import(pathToFileURL(entry).href);
}
