import { readFileSync } from "node:fs";
import type { z } from "zod";

export type StateFile<T> =
  | { readonly status: "ok"; readonly content: T }
  | { readonly status: "missing" }
  | { readonly status: "broken" };

/** A JSON file that one process of this machine leaves in the data folder for the others. */
export function readStateFile<T>(path: string, schema: z.ZodType<T>): StateFile<T> {
  let source: string;
  try {
    source = readFileSync(path, "utf8");
  } catch (error) {
    const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
    return { status: missing ? "missing" : "broken" };
  }
  try {
    const parsed = schema.safeParse(JSON.parse(source));
    return parsed.success ? { status: "ok", content: parsed.data } : { status: "broken" };
  } catch {
    return { status: "broken" };
  }
}
