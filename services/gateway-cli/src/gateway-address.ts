import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Config, type Environment, loadConfig } from "@troupe/platform";
import { UsageError } from "./usage-error.js";

export interface GatewayAddress {
  /** Without a slash at the end. */
  readonly url: string;
  readonly token: string | undefined;
  /** Where the token is read from, for the person whose token is refused. */
  readonly tokenSource: string;
  /** Whether the gateway runs on this machine, so that `npm start` is the advice when it does not answer. */
  readonly local: boolean;
}

export interface AddressOptions {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
}

const LOCAL_HOSTS = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Where the gateway is and which token it takes: the options, else the configuration, else what the local gateway has
 * left in the data folder. That last token goes to this machine only, never to a host named by `--url`.
 *
 * @throws UsageError when `--url` is no HTTP address
 * @throws ConfigError when the configuration is wrong
 */
export async function gatewayAddress(options: AddressOptions, env?: Environment): Promise<GatewayAddress> {
  const config = loadConfig(
    Config.pick({ gateway: true, token: true, dataDir: true }),
    env === undefined ? {} : { env },
  );
  const home = new URL(config.gateway.url);
  const url = options.url === undefined ? home : parseUrl(options.url);
  const local = LOCAL_HOSTS.has(url.hostname) || url.host === home.host;
  const at = { url: `${url.origin}${url.pathname.replace(/\/+$/, "")}`, local };
  if (options.token !== undefined) return { ...at, token: checked(options.token), tokenSource: "--token" };
  if (config.token !== undefined) {
    return { ...at, token: config.token, tokenSource: "TROUPE_TOKEN or TROUPE_TOKEN_FILE" };
  }
  if (!local) return { ...at, token: undefined, tokenSource: "--token or TROUPE_TOKEN, and neither is set" };
  const path = join(config.dataDir, "keys", "http-token");
  return { ...at, token: await readToken(path), tokenSource: path };
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new UsageError("--url: expected an address such as http://127.0.0.1:7070");
  }
  return url;
}

function checked(token: string): string {
  if (!/^[\x21-\x7e]+$/.test(token)) throw new UsageError("--token: expected printable ASCII without spaces");
  return token;
}

async function readToken(path: string): Promise<string | undefined> {
  try {
    const token = (await readFile(path, "utf8")).trim();
    return token === "" ? undefined : token;
  } catch {
    return undefined; // Not there before the gateway's first start; the gateway's refusal will name the path.
  }
}
