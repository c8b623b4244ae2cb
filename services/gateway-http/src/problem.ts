import { STATUS_CODES } from "node:http";
import type { z } from "zod";

/** One field that is wrong, by its dotted path in what was sent; the message never holds a value. */
export interface FieldError {
  readonly path: string;
  readonly message: string;
}

export interface ProblemOptions {
  readonly errors?: readonly FieldError[];
  /** Becomes `Retry-After`, in whole seconds. */
  readonly retryAfterMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** An answer that is not a success, thrown by a route and written by the server's error handler. */
export class HttpProblem extends Error {
  readonly kind = "http";
  readonly status: number;
  readonly code: string;
  readonly errors: readonly FieldError[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, detail: string, options: ProblemOptions = {}) {
    super(detail, { cause: options.cause });
    this.name = "HttpProblem";
    this.status = status;
    this.code = code;
    this.errors = options.errors ?? [];
    const { retryAfterMs } = options;
    this.headers =
      retryAfterMs === undefined
        ? { ...options.headers }
        : { ...options.headers, "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1000))) };
  }
}

/** The body of a problem: RFC 9457, with `code` for programs and `errors` for fields. */
export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly errors?: readonly FieldError[];
}

export function problemDocument(problem: HttpProblem): ProblemDocument {
  const { status, code, message: detail, errors } = problem;
  // RFC 9457, 4.2.1: with "about:blank" the title is the status's own phrase, and `code` says more.
  const base = { type: "about:blank", title: STATUS_CODES[status] ?? "Error", status, detail, code };
  return errors.length === 0 ? base : { ...base, errors };
}

/** A client mends a few fields at a time; the answer to nonsense must not be longer than the nonsense. */
const MAX_FIELD_ERRORS = 20;
const MAX_PATH_LENGTH = 200;
const MAX_DETAIL_LENGTH = 500;

/** 422 with the fields that are wrong, at most {@link MAX_FIELD_ERRORS}; an unknown field counts as one of its own. */
export function fieldProblem(error: z.ZodError): HttpProblem {
  const errors = error.issues
    .flatMap((issue): FieldError[] =>
      issue.code === "unrecognized_keys"
        ? issue.keys.map((key) => ({ path: dotted([...issue.path, key]), message: "unknown field" }))
        : [{ path: dotted(issue.path), message: issue.message.replace(/^Invalid input: /, "") }],
    )
    .slice(0, MAX_FIELD_ERRORS);
  const detail = errors.map(({ path, message }) => `${path || "body"}: ${message}`).join("; ");
  return new HttpProblem(422, "invalid_field", shortened(detail, MAX_DETAIL_LENGTH), { errors });
}

/** Reads a body or a query by its schema, or throws the 422 that names what is wrong with it. */
export function readFields<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw fieldProblem(parsed.error);
  return parsed.data;
}

function dotted(path: readonly PropertyKey[]): string {
  return shortened(path.map(String).join("."), MAX_PATH_LENGTH);
}

function shortened(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1).toWellFormed()}…`;
}
