import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Problem } from "./config-error.js";

export type Environment = Readonly<Record<string, string | undefined>>;

export type SecretResult = { readonly value: string | undefined } | { readonly problem: Problem };

/** An empty variable counts as unset. */
export function variable(env: Environment, name: string): string | undefined {
  return env[name] === "" ? undefined : env[name];
}

/** The secret `name`, from the variable itself or from the file that `<name>_FILE` names; both at once are an error. */
export function readSecret(env: Environment, name: string): SecretResult {
  const value = variable(env, name);
  const path = variable(env, `${name}_FILE`);
  if (path === undefined) return { value };
  if (value !== undefined) {
    return {
      problem: { where: name, message: `${name}_FILE is set too; expected only one of them` },
    };
  }
  return readSecretFile(resolve(path), `${name}_FILE`);
}

/** The secret in a file, without the line end that editors add. */
export function readSecretFile(path: string, where: string): SecretResult {
  try {
    const value = readFileSync(path, "utf8").trim();
    return value === "" ? { problem: { where, message: `the file ${path} is empty` } } : { value };
  } catch {
    return { problem: { where, message: `cannot read the file ${path}` } };
  }
}
