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

/** `offline-model.json` in the data folder, written by whoever runs the offline model. */
export const OfflineModelFile = z.object({ url: z.string() });

/** Servers on one's own machine want no key, but the client library refuses to start without one. */
const NO_KEY = "not-needed";

export interface ModelSettings {
  readonly provider: Section<ProviderSettings>;
  /** The name of the model to ask for. */
  readonly model: string;
}

/** The sources a model server can come from. */
export interface ModelSources {
  readonly env: Environment;
  readonly read: ReadVariables;
  readonly file: LoadedFile;
  readonly dataDir: string;
}

/** `OPENAI_*`, else the file's providers, else the offline model. `TROUPE_MODEL` goes before `models.default`. */
export function modelSettings(sources: ModelSources): ModelSettings {
  const { read, file, dataDir } = sources;
  const wanted = read.variables.TROUPE_MODEL ?? file.content.models.default;
  const model = wanted ?? "gpt-4.1-mini";

  if (read.wrong.has("OPENAI_API_KEY") || file.problems.length > 0) return { provider: { absent: [] }, model };
  const named = fromVariables(sources);
  if (named !== undefined) return { provider: named, model };
  if (file.content.providers.length > 0) return fromFile(sources, model);

  const path = join(dataDir, "offline-model.json");
  const offline = readStateFile(path, OfflineModelFile);
  if (offline.status === "ok") {
    const provider = { name: "offline", baseUrl: offline.content.url, apiKey: NO_KEY };
    return { provider: { value: provider }, model: wanted ?? "offline" };
  }
  const problem =
    offline.status === "broken"
      ? { where: path, message: 'expected {"url"}; remove it and run npm start' }
      : {
          where: "OPENAI_API_KEY",
          message: "no model server is configured: set it, or OPENAI_BASE_URL, or run npm start",
        };
  return { provider: { absent: [problem] }, model };
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
    return { value: { name: "openai", baseUrl, apiKey: apiKey ?? NO_KEY } };
  }
  // A provider of the file that takes its key from this variable is what the key is for: sending it elsewhere leaks it.
  const claimed = file.content.providers.some(({ apiKeyEnv }) => apiKeyEnv === "OPENAI_API_KEY");
  return apiKey === undefined || claimed ? undefined : { value: { name: "openai", apiKey } };
}

/** A model `<provider>/<model>` of a provider in the file goes to that one, any other to the first. */
function fromFile({ env, file }: ModelSources, wanted: string): ModelSettings {
  const { providers } = file.content;
  const prefixed = providers.find(({ name }) => wanted.startsWith(`${name}/`));
  const chosen = prefixed ?? providers[0];
  const model = prefixed === undefined ? wanted : wanted.slice(prefixed.name.length + 1);

  const problems: Problem[] = [];
  let settings: ProviderSettings | undefined;
  for (const [index, provider] of providers.entries()) {
    const key = keyOf(provider, `${file.name}: providers[${index}]`, { env, folder: file.folder });
    if ("problem" in key) problems.push(key.problem);
    else if (provider === chosen) {
      settings = { name: provider.name, baseUrl: provider.baseUrl, apiKey: key.value ?? NO_KEY };
    }
  }
  return {
    provider: settings !== undefined && problems.length === 0 ? { value: settings } : { absent: problems },
    model,
  };
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
