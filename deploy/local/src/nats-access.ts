import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { readJsonObject, writeSecretFile } from "./secret-file.js";

/** How to reach the local NATS server: the content of `nats.json` in the data folder. */
export interface NatsAccess {
  readonly url: string;
  readonly user: string;
  readonly pass: string;
}

/** What an earlier start left, or undefined. */
export async function readNatsAccess(dataFolder: string): Promise<NatsAccess | undefined> {
  const { url, user, pass } = (await readJsonObject(fileOf(dataFolder))) ?? {};
  const whole = typeof url === "string" && typeof user === "string" && typeof pass === "string";
  return whole ? { url, user, pass } : undefined;
}

export async function writeNatsAccess(dataFolder: string, access: NatsAccess): Promise<void> {
  await writeSecretFile(fileOf(dataFolder), `${JSON.stringify(access)}\n`);
}

/** Access with a new random password, for a server that has yet to get a port. */
export function newNatsAccess(): NatsAccess {
  return { url: "", user: "troupe", pass: randomBytes(24).toString("base64url") };
}

/** The port in the URL, or undefined when there is none yet. */
export function portOf({ url }: NatsAccess): number | undefined {
  const port = Number(/:(\d+)\/?$/.exec(url)?.[1]);
  return port > 0 && port < 65_536 ? port : undefined;
}

export function urlOfPort(port: number): string {
  return `nats://127.0.0.1:${port}`;
}

function fileOf(dataFolder: string): string {
  return join(dataFolder, "nats.json");
}
