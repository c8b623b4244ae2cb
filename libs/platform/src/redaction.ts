const SECRET_FIELD =
  /^(authorization|proxy-authorization|(set-)?cookie|(x-)?api[-_]?key|(access[-_]?|refresh[-_]?)?token|pass(word)?|secret|private[-_]?key)$/i;

const REDACTED = "[redacted]";

/** Deep enough for what is logged on purpose; also the end of a cycle. */
const MAX_DEPTH = 8;

/**
 * A copy in which every secret is replaced: fields that are secret by name at any depth, and what {@link redactText}
 * finds. Class instances are left as they are.
 */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return redactText(value);
  if (Array.isArray(value)) return depth < MAX_DEPTH ? value.map((item) => redact(item, depth + 1)) : "[…]";
  if (!isPlain(value)) return value;
  return depth < MAX_DEPTH ? redactFields(value, depth + 1) : "{…}";
}

/** {@link redact} for the fields of one object. */
export function redactFields(fields: object, depth = 0): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    const secret = SECRET_FIELD.test(name) && value !== undefined && value !== null;
    copy[name] = secret ? REDACTED : redact(value, depth);
  }
  return copy;
}

/** Takes credentials out of URLs and bearer tokens out of running text, such as an error's message. */
export function redactText(text: string): string {
  const withoutLogins = text.includes("://") ? text.replace(/(\w:\/\/)[^\s/?#@"'\\]+@/g, `$1${REDACTED}@`) : text;
  return /bearer /i.test(withoutLogins)
    ? withoutLogins.replace(/\b(bearer) +[\w.~+/=-]+/gi, `$1 ${REDACTED}`)
    : withoutLogins;
}

function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
