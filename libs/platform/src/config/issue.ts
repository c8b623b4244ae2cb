import { z } from "zod";
import type { Problem } from "./config-error.js";

type Form = z.core.JSONSchema._JSONSchema;

/**
 * The problems behind one zod issue: an unknown field becomes a problem of its own that names the fields known there.
 *
 * @param source what to print before the path, such as the file's name
 * @param form the JSON Schema of what was parsed, to say which fields exist
 */
export function problemsOf(issue: z.core.$ZodIssue, source: string, form: Form): Problem[] {
  if (issue.code !== "unrecognized_keys") {
    return [
      {
        where: place(source, issue.path),
        message: issue.message.replace(/^(Invalid \w+|Too \w+): /, ""),
      },
    ];
  }
  const known = Object.keys(fieldsAt(form, issue.path));
  return issue.keys.map((key) => ({
    where: place(source, [...issue.path, key]),
    message: known.length === 0 ? "unknown field" : `unknown field; expected one of: ${known.join(", ")}`,
  }));
}

/** The JSON Schema of what may be written, for {@link problemsOf}. */
export function formOf(schema: z.ZodType): Form {
  return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
}

function place(source: string, path: readonly PropertyKey[]): string {
  return path.length === 0 ? source : `${source}: ${z.core.toDotPath(path)}`;
}

function fieldsAt(form: Form, path: readonly PropertyKey[]): Readonly<Record<string, Form>> {
  if (typeof form === "boolean") return {};
  const [step, ...rest] = path;
  if (step === undefined) return form.properties ?? {};
  const inner = typeof step === "number" ? form.items : form.properties?.[String(step)];
  return inner === undefined || Array.isArray(inner) ? {} : fieldsAt(inner, rest);
}
