import { join, resolve } from "node:path";
import { z } from "zod";
import type { Problem, Section } from "./config-error.js";
import type { ReadVariables } from "./environment-variables.js";
import { type Environment, readSecret, readSecretFile, type SecretResult } from "./secret.js";
import { readStateFile } from "./state-file.js";
import { type FileProvider, HttpUrl, type LoadedFile } from "./troupe-file.js";

/** The model server in use. Without `baseUrl` the client library's own default (the official one) applies. */
export const ProviderSettings = z.object({
  name: z.string(),
  baseUrl: z.string().optional(),
  apiKey: z.string(),
});
export type ProviderSettings = z.infer<typeof ProviderSettings>;

/** One model of one server; `provider` is the name in that server's settings. */
export const ModelTarget = z.object({ provider: z.string(), model: z.string() });
export type ModelTarget = z.infer<typeof ModelTarget>;

/** Which model answers, and which do when it cannot. */
export const ModelChoice = z.object({
  /** The model of `provider` to ask first. */
  default: z.string(),
  /** Asked in this order when the default cannot answer. */
  fallback: z.array(ModelTarget),
  /** For summaries; absent: the default. */
  consolidation: ModelTarget.optional(),
});
export type ModelChoice = z.infer<typeof ModelChoice>;

/** `offline-model.json` in the data folder, written by whoever runs the offline model. */
export const OfflineModelFile = z.object({ url: z.string() });

/** Servers on one's own machine want no key, but the client library refuses to start without one. */
const NO_KEY = "not-needed";

export interface ModelSettings {
  readonly models: ModelChoice;
  /** The server of the default model. */
  readonly provider: Section<ProviderSettings>;
  /** Every server that `models` names, and all of the file's whose key is known; names differ. */
  readonly providers: Section<readonly ProviderSettings[]>;
}

/** The sources a model server can come from. */
export interface ModelSources {
  readonly env: Environment;
  readonly read: ReadVariables;
  readonly file: LoadedFile;
  readonly dataDir: string;
}

/** The name of the server that the variables describe. */
const FROM_VARIABLES = "openai";
const OFFICIAL_MODEL = "gpt-4.1-mini";

/**
 * `OPENAI_*`, else the file's providers, else the offline model. `TROUPE_MODEL` goes before `models.default`.
 *
 * `<provider>/<model>` with the name of one of the file's providers means that one, any other name is whole the name of
 * a model of the first server. The default's name is always whole when the variables name a server, because many
 * servers have slashes in their models' names.
 */
export function modelSettings(sources: ModelSources): ModelSettings {
  const { read, file, dataDir } = sources;
  const { providers, models } = file.content;
  const wanted = read.variables.TROUPE_MODEL ?? models.default;
  const variables = fromVariables(sources);
  const first = variables === undefined ? (providers[0]?.name ?? "offline") : FROM_VARIABLES;
  const target = (name: string): ModelTarget => targetOf(name, providers, first);
  const others = {
    fallback: models.fallback.map(target),
    ...(models.consolidation === undefined ? {} : { consolidation: target(models.consolidation) }),
  };
  const chosen = variables === undefined ? target(wanted ?? OFFICIAL_MODEL) : undefined;
  const named: ModelChoice = { default: chosen?.model ?? wanted ?? OFFICIAL_MODEL, ...others };

  if (read.wrong.has("OPENAI_API_KEY") || file.problems.length > 0) return without(named, []);
  if (variables !== undefined) {
    const used = new Set([...named.fallback, named.consolidation].map((one) => one?.provider));
    return { models: named, provider: variables, providers: withFile(variables, sources, used) };
  }
  if (chosen !== undefined && providers.length > 0) return fromFile(sources, named, chosen.provider);

  const path = join(dataDir, "offline-model.json");
  const offline = readStateFile(path, OfflineModelFile);
  if (offline.status === "ok") {
    const provider = { name: "offline", baseUrl: offline.content.url, apiKey: NO_KEY };
    const choice = { ...named, default: wanted ?? "offline" };
    return { models: choice, provider: { value: provider }, providers: { value: [provider] } };
  }
  return without(named, [
    offline.status === "broken"
      ? { where: path, message: 'expected {"url"}; remove it and run npm start' }
      : {
          where: "OPENAI_API_KEY",
          message: "no model server is configured: set it, or OPENAI_BASE_URL, or run npm start",
        },
  ]);
}

function without(models: ModelChoice, problems: readonly Problem[]): ModelSettings {
  return { models, provider: { absent: problems }, providers: { absent: problems } };
}

function targetOf(name: string, providers: readonly FileProvider[], first: string): ModelTarget {
  const prefixed = providers.find((provider) => name.startsWith(`${provider.name}/`));
  if (prefixed === undefined) return { provider: first, model: name };
  return { provider: prefixed.name, model: name.slice(prefixed.name.length + 1) };
}

function fromVariables({ read, file }: ModelSources): Section<ProviderSettings> | undefined {
  const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseUrl } = read.variables;
  if (baseUrl !== undefined) {
    if (!HttpUrl.safeParse(baseUrl).success) {
      return {
        absent: [
          {
            where: "OPENAI_BASE_URL",
            message: "expected a URL that begins with http:// or https://",
          },
        ],
      };
    }
    return { value: { name: FROM_VARIABLES, baseUrl, apiKey: apiKey ?? NO_KEY } };
  }
  // A provider of the file that takes its key from this variable is what the key is for: sending it elsewhere leaks it.
  const claimed = file.content.providers.some(({ apiKeyEnv }) => apiKeyEnv === "OPENAI_API_KEY");
  return apiKey === undefined || claimed ? undefined : { value: { name: FROM_VARIABLES, apiKey } };
}

/** The server of the variables stands for one of the same name in the file; of the others only `used` ones need a key. */
function withFile(
  first: Section<ProviderSettings>,
  sources: ModelSources,
  used: ReadonlySet<string | undefined>,
): Section<readonly ProviderSettings[]> {
  if ("absent" in first) return first;
  const rest = fileProviders(sources).filter(({ name }) => name !== first.value.name);
  const problems = rest.flatMap(({ name, settings }) =>
    "absent" in settings && used.has(name) ? settings.absent : [],
  );
  if (problems.length > 0) return { absent: problems };
  return { value: [first.value, ...rest.flatMap(({ settings }) => ("value" in settings ? [settings.value] : []))] };
}

function fromFile(sources: ModelSources, models: ModelChoice, chosen: string): ModelSettings {
  const all = fileProviders(sources);
  const problems = all.flatMap(({ settings }) => ("absent" in settings ? settings.absent : []));
  const settings = all.flatMap(({ settings: one }) => ("value" in one ? [one.value] : []));
  const provider = settings.find(({ name }) => name === chosen);
  if (provider === undefined || problems.length > 0) return without(models, problems);
  return { models, provider: { value: provider }, providers: { value: settings } };
}

interface FileEntry {
  readonly name: string;
  readonly settings: Section<ProviderSettings>;
}

function fileProviders({ env, file }: ModelSources): FileEntry[] {
  return file.content.providers.map((provider, index) => {
    const { name, baseUrl } = provider;
    const key = keyOf(provider, `${file.name}: providers[${index}]`, { env, folder: file.folder });
    const settings: Section<ProviderSettings> =
      "problem" in key ? { absent: [key.problem] } : { value: { name, baseUrl, apiKey: key.value ?? NO_KEY } };
    return { name, settings };
  });
}

function keyOf(provider: FileProvider, where: string, from: { env: Environment; folder: string }): SecretResult {
  const { apiKey, apiKeyFile, apiKeyEnv } = provider;
  if (apiKeyFile !== undefined) return readSecretFile(resolve(from.folder, apiKeyFile), `${where}.apiKeyFile`);
  if (apiKeyEnv === undefined) return { value: apiKey };
  const secret = readSecret(from.env, apiKeyEnv);
  if ("problem" in secret || secret.value !== undefined) return secret;
  return {
    problem: { where: `${where}.apiKeyEnv`, message: `the variable ${apiKeyEnv} is not set` },
  };
}
