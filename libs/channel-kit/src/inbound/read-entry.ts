import { SESSION_SCHEMA, SessionEntry } from "@troupe/contracts";
import { z } from "zod";

export type ReadEntry =
  | { readonly kind: "ok"; readonly entry: SessionEntry }
  | { readonly kind: "newer" }
  | { readonly kind: "invalid" };

const Schema = z.object({ schema: z.number() });

/** Reads a stored entry; one of a newer form is left alone. */
export function readEntry(text: string): ReadEntry {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: "invalid" };
  }
  const head = Schema.safeParse(value);
  if (head.success && head.data.schema > SESSION_SCHEMA) return { kind: "newer" };
  const parsed = SessionEntry.safeParse(value);
  return parsed.success ? { kind: "ok", entry: parsed.data } : { kind: "invalid" };
}
