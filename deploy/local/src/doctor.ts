import { stat } from "node:fs/promises";
import { join } from "node:path";
import { Config, ConfigError, loadConfig } from "@troupe/platform";
import type { z } from "zod";
import { broken, type Finding, lineOf, well } from "./finding.js";
import { inspectGateway } from "./gateway-readiness.js";
import { askHttp } from "./http-question.js";
import { inspectOrchestrators } from "./mail-takers.js";
import { probeNats } from "./nats-probe.js";
import { isNewEnough, NEEDED_VERSION } from "./nats-server/server-version.js";

const Picked = Config.pick({ gateway: true, dataDir: true });
const Nats = Config.pick({ nats: true });

const START = "start it: npm start";

/** What was looked at, and what was found. */
type Check = readonly [name: string, findings: readonly Finding[]];

/**
 * Looks at everything a working installation needs and says a line for each, and for each thing that is not well.
 *
 * @returns whether nothing is broken
 */
export async function inspectInstallation(say: (line: string) => void): Promise<boolean> {
  const checks: Promise<Check>[] = [check("node", "", async () => inspectNode())];
  const config = pick(Picked);
  if (typeof config === "string") checks.push(check("configuration", "", async () => wrong(config)));
  else {
    checks.push(check("data folder", "look at it", () => inspectDataFolder(config.dataDir)));
    checks.push(check("gateway", START, () => inspectGateway(config.gateway.url)));
  }
  const nats = check("NATS", `${START}, or correct NATS_URL`, inspectNats);
  checks.push(nats);
  checks.push(check("orchestrator", "look at the NATS server", async () => inspectWork(await nats)));
  checks.push(check("model", "check OPENAI_BASE_URL, or the servers under providers", inspectModel));
  let broke = false;
  for (const one of checks) {
    const [name, findings] = await one;
    for (const finding of findings) say(lineOf(name, finding));
    broke ||= findings.some(({ state }) => state === "broken");
  }
  return !broke;
}

/** @param advice what to do when the look itself fails */
async function check(name: string, advice: string, look: () => Promise<Finding | readonly Finding[]>): Promise<Check> {
  try {
    const found = await look();
    return [name, "state" in found ? [found] : found];
  } catch (error) {
    const [reason = ""] = (error instanceof Error ? error.message : String(error)).split("\n", 1);
    return [name, [broken(reason, advice)]];
  }
}

function inspectNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const enough = major > 20 || (major === 20 && minor >= 19);
  return enough ? well(process.versions.node) : broken(`${process.versions.node} found`, "install 20.19 or newer");
}

async function inspectDataFolder(folder: string): Promise<Finding> {
  const open: string[] = [];
  for (const name of ["", "nats.json", "nats-server.conf", "gateway.json", "keys"]) {
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (name === "" && found === undefined) return broken(`${folder} does not exist yet`, "npm start makes it");
    if (found !== undefined && (found.mode & 0o077) !== 0) open.push(join(folder, name));
  }
  if (open.length === 0) return well(folder);
  return broken(`others on this machine can read ${open.join(", ")}`, `chmod go-rwx ${open.join(" ")}`);
}

async function inspectNats(): Promise<Finding> {
  const config = pick(Nats);
  if (typeof config === "string") return wrong(config);
  const { url, user, pass } = config.nats;
  const login = user === undefined || pass === undefined ? undefined : { user, pass };
  const { version, jetstream } = await probeNats(url, login === undefined ? {} : { login });
  if (!isNewEnough(version)) return broken(`version ${version} found`, `install ${NEEDED_VERSION} or newer`);
  if (!jetstream) return broken(`JetStream is off at ${url}`, "start the server with it: nats-server -js");
  return well(`version ${version} with JetStream at ${url}`);
}

/** Of a NATS server that is not well nothing more can be learnt. */
async function inspectWork([, nats]: Check): Promise<readonly Finding[]> {
  const config = pick(Nats);
  const known = typeof config !== "string" && nats.every(({ state }) => state === "ok");
  return known ? [await inspectOrchestrators(config.nats)] : [];
}

/** Asking for the list of models costs nothing and needs the key. Servers without such a list are reachable all the same. */
async function inspectModel(): Promise<Finding> {
  const config = pick(Config.pick({ provider: true, models: true }));
  if (typeof config === "string") return wrong(config);
  const { baseUrl = "https://api.openai.com/v1", apiKey } = config.provider;
  const { status } = await askHttp(`${baseUrl.replace(/\/$/, "")}/models`, {
    authorization: `Bearer ${apiKey ?? ""}`,
  });
  const where = `${config.models.default} at ${new URL(baseUrl).host}`;
  if (status === 401 || status === 403)
    return broken(`${where}: the key is refused (${status})`, "check OPENAI_API_KEY");
  return status < 500 ? well(where) : broken(`${where} answered ${status}`, "look at the model server");
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

function wrong(problems: string): Finding {
  return broken(problems, "correct it");
}
