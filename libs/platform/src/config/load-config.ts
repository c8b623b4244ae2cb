import type { z } from "zod";
import type { Config } from "./config.js";
import { ConfigError, type Problem } from "./config-error.js";
import { dataDirOf } from "./data-dir.js";
import { readVariables } from "./environment-variables.js";
import { gatewaySettings } from "./gateway-settings.js";
import { formOf, problemsOf } from "./issue.js";
import { modelSettings } from "./model-settings.js";
import { natsSettings } from "./nats-settings.js";
import type { Environment } from "./secret.js";
import { readTroupeFile } from "./troupe-file.js";

export interface LoadOptions {
  /** Default: the process's own. */
  readonly env?: Environment;
  /** Default: the process's own; its second entry is where the search for the project's root begins. */
  readonly argv?: readonly string[];
}

type Sections = "nats" | "provider" | "providers";

/** @internal The tree before a service has picked from it: what is wrong, and what is absent and why. */
export interface LoadedTree {
  readonly tree: Omit<Config, Sections> & { readonly [S in Sections]?: Config[S] | undefined };
  readonly problems: readonly Problem[];
  readonly absent: ReadonlyMap<string, readonly Problem[]>;
}

/**
 * Reads `troupe.yaml` and the environment (which goes first), and gives the service what its schema picks, frozen.
 *
 * @throws ConfigError naming every problem at once, by variable or by path in the file, and never a value
 */
export function loadConfig<S extends z.ZodType>(schema: S, options: LoadOptions = {}): z.output<S> {
  return pickConfig(schema, loadTree(options));
}

/** @internal */
export function loadTree({ env = process.env, argv = process.argv }: LoadOptions): LoadedTree {
  const read = readVariables(env);
  const { variables } = read;
  const file = readTroupeFile(variables.TROUPE_CONFIG);
  const dataDir = dataDirOf(variables.TROUPE_DATA, argv[1]);
  const nats = natsSettings(variables, dataDir);
  const { models, provider, providers } = modelSettings({ env, read, file, dataDir });
  const { agent, turn, introduction, channels, retention } = file.content;
  const http = {
    ...file.content.http,
    host: variables.TROUPE_HTTP_HOST ?? file.content.http.host,
    port: variables.TROUPE_HTTP_PORT ?? file.content.http.port,
  };

  const absent = new Map<string, readonly Problem[]>();
  if ("absent" in nats) absent.set("nats", nats.absent);
  if ("absent" in provider) absent.set("provider", provider.absent);
  if ("absent" in providers) absent.set("providers", providers.absent);
  return {
    tree: {
      agent,
      models,
      provider: "value" in provider ? provider.value : undefined,
      providers: "value" in providers ? [...providers.value] : undefined,
      turn,
      introduction,
      channels,
      http,
      gateway: gatewaySettings(variables, dataDir, http),
      retention,
      nats: "value" in nats ? nats.value : undefined,
      token: variables.TROUPE_TOKEN,
      dataDir,
      natsServerBin: variables.NATS_SERVER_BIN,
      log: { level: variables.LOG_LEVEL, pretty: variables.TROUPE_LOG === "pretty" },
      metrics: { host: variables.TROUPE_METRICS_HOST, port: variables.TROUPE_METRICS_PORT },
      parentWatch: variables.TROUPE_PARENT_WATCH === "1",
    },
    problems: [...read.problems, ...file.problems],
    absent,
  };
}

/** @internal */
export function pickConfig<S extends z.ZodType>(schema: S, loaded: LoadedTree): z.output<S> {
  const picked = schema.safeParse(loaded.tree);
  const problems = new Set(loaded.problems);
  for (const issue of picked.error?.issues ?? []) {
    const found = loaded.absent.get(String(issue.path[0])) ?? problemsOf(issue, "configuration", formOf(schema));
    for (const problem of found) problems.add(problem);
  }
  if (problems.size > 0 || !picked.success) throw new ConfigError([...problems]);
  return freeze(picked.data);
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) freeze(inner);
  }
  return value;
}
