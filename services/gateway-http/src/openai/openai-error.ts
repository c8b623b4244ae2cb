import type { ErrorCode, Final } from "@troupe/contracts";
import { HttpProblem } from "../problem.js";

/** The form in which clients of OpenAI's API expect errors. */
export interface OpenAiErrorBody {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string;
}

export interface OpenAiError {
  readonly status: number;
  readonly envelope: { readonly error: OpenAiErrorBody };
}

/** Where OpenAI's own code for the same thing has another name; its clients look at it. */
const CODES: Readonly<Record<string, string>> = {
  unauthorized: "invalid_api_key",
  context_too_long: "context_length_exceeded",
};

/** 502 for a model that refused: this server is well, the one behind it said no. */
const STATUS_OF_CODE: Readonly<Record<ErrorCode, number>> = {
  model_unavailable: 503,
  model_refused: 502,
  context_too_long: 400,
  empty_answer: 500,
  budget_exceeded: 500,
  turn_limit: 500,
  deadline: 504,
  internal: 500,
};

/** A field that is wrong is a 400 in this protocol, and names the first such field. */
export function openAiError(problem: HttpProblem): OpenAiError {
  const status = problem.status === 422 ? 400 : problem.status;
  const error: OpenAiErrorBody = {
    message: problem.message,
    type: status >= 500 ? "server_error" : "invalid_request_error",
    param: problem.errors[0]?.path || null,
    code: CODES[problem.code] ?? problem.code,
  };
  return { status, envelope: { error } };
}

/** A request that this endpoint cannot do as asked; `param` names the field. */
export function badRequest(param: string, code: string, message: string): HttpProblem {
  return new HttpProblem(400, code, message, { errors: [{ path: param, message }] });
}

/** The official clients repeat a 409 and every 5xx unless told not to, and a repeated request is another turn. */
const NO_RETRY = { "x-should-retry": "false" } as const;

/** Whether the same request may well be answered when it is made again. */
export function mayPass(final: Final): boolean {
  return final.kind === "error" && final.error?.retryable === true;
}

/** What a final that is no answer means to a client of this protocol; null: it is an answer. */
export function problemOfFinal(final: Final): HttpProblem | null {
  switch (final.kind) {
    case "answer":
    case "merged":
      return null;
    case "cancelled":
      return new HttpProblem(409, "turn_cancelled", final.text || "the turn was cancelled", { headers: NO_RETRY });
    case "error": {
      const code = final.error?.code ?? "internal";
      const detail = final.text || "the turn failed";
      const retry = mayPass(final) ? { retryAfterMs: 5_000 } : { headers: NO_RETRY };
      return new HttpProblem(STATUS_OF_CODE[code], code, detail, retry);
    }
  }
}
