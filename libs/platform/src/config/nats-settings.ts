import { accessSync, constants } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import type { Section } from "./config-error.js";
import type { Variables } from "./environment-variables.js";
import { readStateFile } from "./state-file.js";

/** How to reach NATS. `url` may hold several servers, separated by commas; it never holds credentials. */
export const NatsSettings = z.object({
  url: z.string(),
  /** Path of a credentials file. */
  creds: z.string().optional(),
  user: z.string().optional(),
  pass: z.string().optional(),
  token: z.string().optional(),
});
export type NatsSettings = z.infer<typeof NatsSettings>;

/** `nats.json` in the data folder, written by whoever runs the local server. */
export const NatsFile = z.object({ url: z.string(), user: z.string(), pass: z.string() });

const URL_FORM = "expected nats://host:port, or several of them separated by commas";

/** `NATS_URL` with `NATS_CREDS`, else the local server's file. */
export function natsSettings(variables: Variables, dataDir: string): Section<NatsSettings> {
  const { NATS_URL: url, NATS_CREDS: creds } = variables;
  if (url !== undefined) return fromVariables(url, creds);
  if (creds !== undefined) return absent("NATS_CREDS", "is set without NATS_URL; expected both");

  const path = join(dataDir, "nats.json");
  const file = readStateFile(path, NatsFile);
  if (file.status === "ok") return { value: file.content };
  if (file.status === "broken") return absent(path, 'expected {"url","user","pass"}; remove it and run npm start');
  return absent("NATS_URL", `not set, and no local server has left its address in ${path}: set it, or run npm start`);
}

function fromVariables(given: string, creds: string | undefined): Section<NatsSettings> {
  const servers = parseServers(given);
  if (servers === undefined) return absent("NATS_URL", URL_FORM);
  const url = servers.map(({ protocol, host }) => `${protocol}//${host}`).join(",");
  const login = loginOf(servers);
  if (creds === undefined) return { value: { url, ...login } };
  if (login !== undefined) return absent("NATS_CREDS", "NATS_URL names a user too; expected only one of them");
  const path = resolve(creds);
  try {
    accessSync(path, constants.R_OK);
  } catch {
    return absent("NATS_CREDS", `cannot read the file ${path}`);
  }
  return { value: { url, creds: path } };
}

function parseServers(given: string): URL[] | undefined {
  try {
    const servers = given
      .split(",")
      .map((part) => new URL(part.includes("://") ? part.trim() : `nats://${part.trim()}`));
    // Throws for a stray percent sign in a login, which is as wrong as a bad host.
    for (const { username, password } of servers) decodeURIComponent(username + password);
    const known = servers.every(({ protocol, hostname }) => /^(nats|tls):$/.test(protocol) && hostname !== "");
    return known ? servers : undefined;
  } catch {
    return undefined;
  }
}

/** The client library takes no credentials in a URL, but people write them there: `user:pass@` or `token@`. */
function loginOf(servers: readonly URL[]): { user: string; pass: string } | { token: string } | undefined {
  const named = servers.find(({ username }) => username !== "");
  if (named === undefined) return undefined;
  const user = decodeURIComponent(named.username);
  return named.password === "" ? { token: user } : { user, pass: decodeURIComponent(named.password) };
}

function absent(where: string, message: string): Section<never> {
  return { absent: [{ where, message }] };
}
