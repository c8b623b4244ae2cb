import { z } from "zod";

/**
 * What every message on the wire has in common.
 *
 * E1 Every body is a JSON object with `v` (schema version) and `id`; the trace context travels in
 *    the `traceparent` header (W3C Trace Context, section 3).
 * E2 Unknown fields of a known version are kept out by the schema of the kind, never an error:
 *    fields may be added without a new version.
 * E3 A body whose `v` is higher than `SCHEMA_VERSION` is left to services that know it.
 * E4 A body that does not parse is dead-lettered with the reason; it never crashes a service.
 */
export const SCHEMA_VERSION = 1;

/** Header names. `Nats-Msg-Id` is the server's own; it repeats the body's id for deduplication. */
export const HEADER = { msgId: "Nats-Msg-Id", trace: "traceparent" } as const;

export const Envelope = z.object({
  v: z.number().int().positive(),
  id: z.string().min(1),
});

export type Decoded<T> =
  | { readonly kind: "ok"; readonly message: T }
  | { readonly kind: "newer"; readonly version: number }
  | { readonly kind: "invalid"; readonly reason: string };

const Versioned = z.object({ v: z.number().int().positive() });

/** Reads one message by its schema (E2–E4). `raw` is the text of the body. */
export function decode<T>(schema: z.ZodType<T>, raw: string): Decoded<T> {
  let body: unknown;
  try {
    body = JSON.parse(raw);
  } catch {
    return { kind: "invalid", reason: "the body is not JSON" };
  }
  const version = Versioned.safeParse(body);
  if (!version.success) return { kind: "invalid", reason: "the body names no schema version" };
  if (version.data.v > SCHEMA_VERSION) return { kind: "newer", version: version.data.v };
  const parsed = schema.safeParse(body);
  if (parsed.success) return { kind: "ok", message: parsed.data };
  return { kind: "invalid", reason: describeIssues(parsed.error) };
}

/** Checks a message on its way out and gives its text. Throws on a bug of the caller's, never on input. */
export function encode<T>(schema: z.ZodType<T>, message: T): string {
  return JSON.stringify(schema.parse(message));
}

/** One line per problem, with its path and never with a value. */
export function describeIssues(error: z.ZodError): string {
  return error.issues.map((issue) => `${issue.path.join(".") || "body"}: ${issue.message}`).join("; ");
}
