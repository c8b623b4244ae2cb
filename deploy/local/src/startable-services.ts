import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { projectRoot } from "./project-root.js";
import { serviceEntry } from "./service-table.js";

/** A person's terminal has commands of its own, `chat` above all. */
const NOT_BY_NAME = new Set(["gateway-cli"]);

/** Names of the services that have been built and can be started one by one. */
export async function startableServices(): Promise<string[]> {
  const names = await readdir(join(projectRoot, "services"));
  return names.filter((name) => !NOT_BY_NAME.has(name) && existsSync(serviceEntry(name))).sort();
}
