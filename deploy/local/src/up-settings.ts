import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { StartFailure } from "./start-failure.js";

/** What a start needs to know of the configuration. */
export interface UpSettings {
  readonly host: string;
  readonly port: number;
  readonly token: string;
  /** Whether no model server is configured, so that ours has to answer. */
  readonly offlineModel: boolean;
}

const LIMIT_MS = 10_000;

/**
 * Has the configuration read by a process of its own (see `settings.ts`).
 *
 * @throws StartFailure with all that is wrong with it
 */
export async function readUpSettings(env: NodeJS.ProcessEnv): Promise<UpSettings> {
  const script = fileURLToPath(new URL("./settings.js", import.meta.url));
  const { output, complaint } = await new Promise<{ output: string; complaint: string }>((resolve) => {
    execFile(process.execPath, [script], { env, timeout: LIMIT_MS }, (error, stdout, stderr) => {
      resolve({
        output: stdout,
        complaint: error === null ? "" : stderr.trim() || error.message,
      });
    });
  });
  if (complaint !== "") throw new StartFailure(complaint);
  return parse(output);
}

function parse(output: string): UpSettings {
  const value: unknown = JSON.parse(output);
  const { host, port, token, offlineModel } =
    typeof value === "object" && value !== null ? { ...value } : ({} as Partial<Record<keyof UpSettings, unknown>>);
  if (typeof host !== "string" || typeof port !== "number" || typeof token !== "string")
    throw new StartFailure("the configuration could not be read");
  return { host, port, token, offlineModel: offlineModel === true };
}
