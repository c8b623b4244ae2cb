import { z } from "zod";
import type { Problem } from "./config-error.js";
import { type Environment, readSecret, variable } from "./secret.js";
import { PORT_FORM } from "./troupe-file.js";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

const port = z
  .string()
  .regex(/^\d{1,5}$/, PORT_FORM)
  .transform(Number)
  .refine((value) => value <= 65_535, PORT_FORM)
  .optional();
const text = z.string().optional();

/** Every variable Troupe reads; whatever else is in the environment is none of its business. */
const Variables = z.object({
  LOG_LEVEL: z.enum(LOG_LEVELS, `expected one of: ${LOG_LEVELS.join(", ")}`).default("info"),
  NATS_CREDS: text,
  NATS_SERVER_BIN: text,
  NATS_URL: text,
  // A key or token that an HTTP header cannot carry would fail at its first use, far from here.
  OPENAI_API_KEY: z
    .string()
    .regex(/^[\x21-\x7e]+$/, "expected printable ASCII without spaces")
    .optional(),
  OPENAI_BASE_URL: text,
  TROUPE_CONFIG: text,
  TROUPE_DATA: text,
  TROUPE_HTTP_HOST: text,
  TROUPE_HTTP_PORT: port,
  TROUPE_LOG: z.enum(["pretty", "json"], "expected one of: pretty, json").default("json"),
  TROUPE_METRICS_HOST: z.string().default("127.0.0.1"),
  TROUPE_METRICS_PORT: port,
  TROUPE_MODEL: text,
  TROUPE_PARENT_WATCH: z.enum(["0", "1"], "expected 0 or 1").default("0"),
  TROUPE_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]+$/, "expected printable ASCII without spaces")
    .optional(),
});
export type Variables = z.infer<typeof Variables>;

const SECRETS = ["OPENAI_API_KEY", "TROUPE_TOKEN"] as const;

export interface ReadVariables {
  /** A variable that is wrong counts as unset here. */
  readonly variables: Variables;
  readonly problems: readonly Problem[];
  /** The names of the variables that are wrong. */
  readonly wrong: ReadonlySet<string>;
}

/** Reads the environment once; every problem is named by its variable. */
export function readVariables(env: Environment): ReadVariables {
  const problems: Problem[] = [];
  const wrong = new Set<string>();
  const given: Record<string, string | undefined> = {};
  for (const name of Object.keys(Variables.shape)) given[name] = variable(env, name);
  for (const name of SECRETS) {
    const secret = readSecret(env, name);
    if ("value" in secret) given[name] = secret.value;
    else {
      problems.push(secret.problem);
      wrong.add(name);
      given[name] = undefined;
    }
  }
  const parsed = Variables.safeParse(given);
  for (const issue of parsed.error?.issues ?? []) {
    const name = String(issue.path[0]);
    problems.push({ where: name, message: issue.message });
    wrong.add(name);
    given[name] = undefined;
  }
  return { variables: Variables.parse(given), problems, wrong };
}
