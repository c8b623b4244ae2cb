import { join } from "node:path";
import { projectRoot } from "./project-root.js";

/** One service of a start on this machine. */
export interface ServiceEntry {
  readonly name: string;
  /** Absolute path of the built main file. */
  readonly entry: string;
  readonly args?: readonly string[];
  /** Names of services that must be ready before this one is started. */
  readonly needs: readonly string[];
  /** Runs only when no model server is configured; gets `--port`, and its URL is left for the others to find. */
  readonly offlineModel?: boolean;
  /** Answers people: its address is the console's. */
  readonly console?: boolean;
}

/** What `npm start` runs beside NATS. Started as their needs allow, stopped in reverse order of this table. */
export const SERVICES: readonly ServiceEntry[] = [
  { name: "offline-model", entry: serviceEntry("offline-model"), needs: [], offlineModel: true },
  { name: "orchestrator", entry: serviceEntry("orchestrator"), needs: ["offline-model"] },
  { name: "gateway-http", entry: serviceEntry("gateway-http"), needs: [], console: true },
];

/** Where the build puts the main file of a service. */
export function serviceEntry(name: string): string {
  return join(projectRoot, "services", name, "dist", "main.js");
}
