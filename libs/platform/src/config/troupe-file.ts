import { readFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { CHANNELS, Retention } from "@troupe/contracts";
import { LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import type { Problem } from "./config-error.js";
import { formOf, problemsOf } from "./issue.js";

const INSTRUCTIONS =
  "You are a helpful assistant. Be brief and truthful, and answer in the language you are addressed in. " +
  "Use your tools when they help. Say so when you do not know something or could not do it.";

const text = z.string().min(1, "expected a text that is not empty");
const COUNT_FORM = "expected a whole number above 0";
const positive = z.int(COUNT_FORM).positive(COUNT_FORM);

/** @internal shared by the file's port and by the variables' ports */
export const PORT_FORM = "expected a port number from 0 to 65535";

/** @internal */
export const HttpUrl = z.url({
  protocol: /^https?$/,
  error: "expected a URL that begins with http:// or https://",
});

const Agent = z.strictObject({
  name: text.default("Troupe"),
  language: text.refine(isLanguage, "expected a language tag such as en or zh-CN").default("en"),
  instructions: text.default(INSTRUCTIONS),
});

const Provider = z
  .strictObject({
    name: text,
    baseUrl: HttpUrl.optional(),
    apiKey: text.optional(),
    apiKeyFile: text.optional(),
    apiKeyEnv: text.optional(),
  })
  .refine(
    ({ apiKey, apiKeyFile, apiKeyEnv }) =>
      [apiKey, apiKeyFile, apiKeyEnv].filter((key) => key !== undefined).length <= 1,
    "expected at most one of apiKey, apiKeyFile and apiKeyEnv",
  );

const Providers = z
  .array(Provider)
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, "expected names that differ");

/** Each is the name of a model, of the first provider or of the one that it begins with: `<provider>/<model>`. */
const Models = z.strictObject({
  default: text.optional(),
  /** Asked in this order when the default cannot answer. */
  fallback: z.array(text).default([]),
  /** For summaries; absent: the default. */
  consolidation: text.optional(),
});

const Turn = z.strictObject({
  maxSteps: positive.default(40),
  deadlineMs: positive.default(600_000),
  // Forty calls that are each shown a full window.
  maxTokens: positive.default(2_500_000),
  // Fits the 128k windows with room for tools and an answer.
  contextTokens: z.int(COUNT_FORM).min(1_000, "expected at least 1000").default(60_000),
  noticeMs: z.int("expected a whole number").min(0, "expected 0 (never) or more").default(30_000),
});

const Introduction = z.strictObject({
  enabled: z.boolean().default(false),
  templates: z.record(text, z.string()).default({}),
});

const SECOND_MESSAGE = ["queue", "steer", "interrupt"] as const;

const ChannelSettings = z.strictObject({
  secondMessage: z.enum(SECOND_MESSAGE, `expected one of: ${SECOND_MESSAGE.join(", ")}`).default("queue"),
});

const Http = z.strictObject({
  host: text.default("127.0.0.1"),
  port: z.int(PORT_FORM).min(0, PORT_FORM).max(65_535, PORT_FORM).default(7070),
  allowedHosts: z.array(z.string().regex(/^[^\s/]+$/, "expected a host name, with or without a port")).default([]),
  allowedOrigins: z.array(z.string().refine(isOrigin, "expected an origin such as https://example.org")).default([]),
});

/** `troupe.yaml`: every section that has an effect, and nothing else. Durations in milliseconds. */
export const TroupeFile = z.strictObject({
  agent: Agent.prefault({}),
  models: Models.prefault({}),
  providers: Providers.default([]),
  turn: Turn.prefault({}),
  introduction: Introduction.prefault({}),
  channels: z.partialRecord(z.enum(CHANNELS), ChannelSettings).default({}),
  http: Http.prefault({}),
  retention: Retention,
});
export type TroupeFile = z.infer<typeof TroupeFile>;
export type FileProvider = z.infer<typeof Provider>;

export interface LoadedFile {
  /** What the file says; all defaults when there is none or it is wrong. */
  readonly content: TroupeFile;
  /** Paths in the file are relative to this folder. */
  readonly folder: string;
  /** What to call the file in a message. */
  readonly name: string;
  readonly problems: readonly Problem[];
}

/** Reads the file that `TROUPE_CONFIG` names. Without a name there is no file; a named file must exist. */
export function readTroupeFile(path: string | undefined): LoadedFile {
  const absolute = resolve(path ?? "troupe.yaml");
  const about = { folder: dirname(absolute), name: basename(absolute) };
  const broken = (problems: readonly Problem[]): LoadedFile => ({
    ...about,
    content: TroupeFile.parse({}),
    problems,
  });
  if (path === undefined) return broken([]);

  let source: string;
  try {
    source = readFileSync(absolute, "utf8");
  } catch {
    return broken([{ where: "TROUPE_CONFIG", message: `cannot read the file ${absolute}` }]);
  }
  const yaml = parseYaml(source, about.name);
  if ("problems" in yaml) return broken(yaml.problems);

  const parsed = TroupeFile.safeParse(yaml.content ?? {});
  if (parsed.success) return { ...about, content: parsed.data, problems: [] };
  const form = formOf(TroupeFile);
  return broken(parsed.error.issues.flatMap((issue) => problemsOf(issue, about.name, form)));
}

function parseYaml(source: string, name: string): { content: unknown } | { problems: Problem[] } {
  const lines = new LineCounter();
  // The library's messages quote the source, which may hold a key: only their codes and places are passed on.
  const document = parseDocument(source, { lineCounter: lines });
  const faults = [...document.errors, ...document.warnings].map(({ code, pos }) => {
    const { line, col } = lines.linePos(pos[0]);
    return {
      where: `${name}:${line}:${col}`,
      message: `not valid YAML (${code.toLowerCase().replaceAll("_", " ")})`,
    };
  });
  if (faults.length > 0) return { problems: faults };
  try {
    return { content: document.toJS() };
  } catch {
    return {
      problems: [{ where: name, message: "not valid YAML (an alias that cannot be resolved)" }],
    };
  }
}

function isLanguage(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}
