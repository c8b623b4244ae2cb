import { stat } from "node:fs/promises";
import { join } from "node:path";
import { Config, ConfigError, loadConfig } from "@troupe/platform";
import type { z } from "zod";
import { probeNats } from "./nats-probe.js";
import { isNewEnough, NEEDED_VERSION } from "./nats-server/server-version.js";

const ASK_LIMIT_MS = 5_000;

/** One thing looked at: what is well, or what is broken. */
type Finding = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly text: string };

const Picked = Config.pick({ http: true, dataDir: true });

/**
 * Looks at everything a working installation needs and says one line for each.
 *
 * @returns whether all is well
 */
export async function inspectInstallation(say: (line: string) => void): Promise<boolean> {
  const findings: Promise<readonly [string, Finding]>[] = [check("node", async () => inspectNode())];
  const config = pick(Picked);
  if (typeof config === "string") findings.push(check("configuration", async () => broken(config)));
  else {
    findings.push(check("data folder", () => inspectDataFolder(config.dataDir)));
    findings.push(check("gateway", () => inspectGateway(config.http)));
  }
  findings.push(check("NATS", inspectNats));
  findings.push(check("model", inspectModel));
  let allWell = true;
  for (const finding of findings) {
    const [name, { ok, text }] = await finding;
    say(`${ok ? "ok    " : "broken"} ${name}: ${text}`);
    allWell &&= ok;
  }
  return allWell;
}

async function check(name: string, look: () => Promise<Finding>): Promise<readonly [string, Finding]> {
  try {
    return [name, await look()];
  } catch (error) {
    return [name, broken(lineOf(error))];
  }
}

function inspectNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const enough = major > 20 || (major === 20 && minor >= 19);
  return enough ? well(process.versions.node) : broken(`${process.versions.node} found, 20.19 needed`);
}

async function inspectDataFolder(folder: string): Promise<Finding> {
  const open: string[] = [];
  for (const name of ["", "nats.json", "nats-server.conf", "keys"]) {
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (name === "" && found === undefined) return broken(`${folder} does not exist yet, npm start makes it`);
    if (found !== undefined && (found.mode & 0o077) !== 0) open.push(join(folder, name));
  }
  return open.length === 0 ? well(folder) : broken(`others on this machine can read ${open.join(", ")}`);
}

async function inspectNats(): Promise<Finding> {
  const config = pick(Config.pick({ nats: true }));
  if (typeof config === "string") return broken(config);
  const { url, user, pass } = config.nats;
  const login = user === undefined || pass === undefined ? undefined : { user, pass };
  const { version, jetstream } = await probeNats(url, login === undefined ? {} : { login });
  if (!isNewEnough(version)) return broken(`version ${version} found, ${NEEDED_VERSION} needed`);
  return jetstream ? well(`version ${version} with JetStream at ${url}`) : broken(`JetStream is off at ${url}`);
}

async function inspectGateway({ host, port }: { host: string; port: number }): Promise<Finding> {
  const own = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const url = `http://${own.includes(":") ? `[${own}]` : own}:${port}/healthz`;
  const { status } = await ask(url);
  return status === 200 ? well(url) : broken(`${url} answered ${status}`);
}

/** Asking for the list of models costs nothing and needs the key. Servers without such a list are reachable all the same. */
async function inspectModel(): Promise<Finding> {
  const config = pick(Config.pick({ provider: true, models: true }));
  if (typeof config === "string") return broken(config);
  const { baseUrl = "https://api.openai.com/v1", apiKey } = config.provider;
  const { status } = await ask(`${baseUrl.replace(/\/$/, "")}/models`, {
    authorization: `Bearer ${apiKey ?? ""}`,
  });
  const where = `${config.models.default} at ${new URL(baseUrl).host}`;
  if (status === 401 || status === 403) return broken(`${where}: the key is refused (${status})`);
  return status < 500 ? well(where) : broken(`${where} answered ${status}`);
}

async function ask(url: string, headers: Record<string, string> = {}): Promise<Response> {
  try {
    return await fetch(url, { headers, signal: AbortSignal.timeout(ASK_LIMIT_MS) });
  } catch (error) {
    throw new Error(`no answer from ${new URL(url).host}`, { cause: error });
  }
}

/** The picked part of the configuration, or all that is wrong with it in one line. */
function pick<S extends z.ZodType>(schema: S): z.output<S> | string {
  try {
    return loadConfig(schema);
  } catch (error) {
    if (error instanceof ConfigError)
      return error.problems.map(({ where, message }) => `${where}: ${message}`).join("; ");
    throw error;
  }
}

function lineOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}

function well(text: string): Finding {
  return { ok: true, text };
}

function broken(text: string): Finding {
  return { ok: false, text };
}
