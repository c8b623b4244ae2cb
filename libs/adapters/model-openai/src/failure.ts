import type { ModelFailureCode } from "@troupe/contracts";
import { APIConnectionTimeoutError, APIError } from "openai";
import { EndlessAnswer } from "./answer.js";
import { isContextTooLong } from "./context-limit.js";
import { type ProviderError, readProviderError } from "./provider-error.js";
import { retryAfterMs } from "./retry-after.js";
import { transportCode } from "./transport-code.js";

/** A failed call before its detail is fit for a log. */
export interface Failure {
  readonly code: ModelFailureCode;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly detail: string;
}

/** The body was not what the protocol says. */
export class MalformedBody extends Error {
  override readonly name = "MalformedBody";
  readonly retryable: boolean;

  /** @param retryable false where asking again will meet the same body, as with a wrong base URL. */
  constructor(message: string, retryable: boolean) {
    super(message);
    this.retryable = retryable;
  }
}

/** The provider said inside the answer that it failed. */
export class ErrorInAnswer extends Error {
  override readonly name = "ErrorInAnswer";
  readonly error: ProviderError;

  constructor(error: ProviderError) {
    super(error.message);
    this.error = error;
  }
}

/** The stream ended without a finish reason and without its end marker. */
export class CutStream extends Error {
  override readonly name = "CutStream";
}

/**
 * What a call's exception means.
 * @param hasHead whether the head of an answer had come: a break after it is a cut, not a failure to connect.
 */
export function classify(error: unknown, hasHead: boolean): Failure {
  if (error instanceof MalformedBody) {
    return { code: "malformed", retryable: error.retryable, detail: error.message };
  }
  if (error instanceof EndlessAnswer) return { code: "too_long", retryable: false, detail: error.message };
  if (error instanceof CutStream) return { code: "cut", retryable: true, detail: error.message };
  if (error instanceof ErrorInAnswer) return ofErrorInAnswer(error.error);
  if (error instanceof APIConnectionTimeoutError) {
    return {
      code: "unreachable",
      retryable: true,
      detail: "the connection could not be made in time",
    };
  }
  if (error instanceof APIError && error.status !== undefined) return ofStatus(error, error.status);
  return ofTransport(error, hasHead);
}

function ofStatus(error: APIError, status: number): Failure {
  const said = readProviderError(error.error ?? error.message);
  const waitMs = error.headers === undefined ? undefined : retryAfterMs(error.headers, Date.now());
  return {
    ...verdict(said, status),
    ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
    detail: `HTTP ${status}: ${describe(said)}`,
  };
}

function ofErrorInAnswer(said: ProviderError): Failure {
  return {
    ...verdict(said, impliedStatus(said)),
    detail: `error inside the answer: ${describe(said)}`,
  };
}

function describe(said: ProviderError): string {
  const tags = [said.code, said.type].filter((tag) => tag !== "" && tag !== said.message);
  return tags.length === 0 ? said.message : `${said.message} (${tags.join(", ")})`;
}

function verdict(
  said: ProviderError,
  status: number,
): { readonly code: ModelFailureCode; readonly retryable: boolean } {
  if (isContextTooLong(said, status)) return { code: "context_too_long", retryable: false };
  if (status === 401 || status === 403) return { code: "unauthorized", retryable: false };
  if (status === 429) {
    // An exhausted quota is refilled by a payment, not by waiting.
    const isSpent = /insufficient_quota|billing|payment/i.test(`${said.code} ${said.type}`);
    return { code: "rate_limited", retryable: !isSpent };
  }
  if (status === 503 || status === 529) return { code: "overloaded", retryable: true };
  // The server gave up waiting for the request (408) or does not want it yet (425): its state, not our fault.
  if (status >= 500 || status === 408 || status === 425) {
    return { code: "server_error", retryable: status !== 501 && status !== 505 };
  }
  return { code: "refused", retryable: false };
}

/** Errors inside an answer come with status 200; their words say which status was meant. */
function impliedStatus(said: ProviderError): number {
  const code = Number(said.code);
  if (Number.isInteger(code) && code >= 400 && code < 600) return code;
  const words = `${said.code} ${said.type}`.toLowerCase();
  if (/rate.?limit|too.?many.?requests|quota|resource.?exhausted/.test(words)) return 429;
  if (/overloaded|unavailable|capacity/.test(words)) return 503;
  if (/auth|permission|api.?key|forbidden/.test(words)) return 401;
  if (/invalid|bad.?request|not.?found|unsupported|content.?filter|policy/.test(words)) return 400;
  return 500;
}

function ofTransport(error: unknown, hasHead: boolean): Failure {
  const { code, text } = transportCode(error);
  const detail = code === "" ? text : `${text} (${code})`;
  if (/^(?:UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT)$/.test(code))
    return { code: "stalled", retryable: true, detail };
  // What speaks no HTTP, or whose certificate is not trusted, will not change by asking again.
  if (code.startsWith("HPE_")) return { code: "malformed", retryable: false, detail };
  if (/^(?:CERT_|ERR_TLS_|ERR_SSL_)|SELF_SIGNED|UNABLE_TO_|EPROTO/.test(code)) {
    return { code: "unreachable", retryable: false, detail };
  }
  const isDropped = /^(?:UND_ERR_SOCKET|ECONNRESET|EPIPE|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/.test(code);
  if (hasHead || isDropped) return { code: "cut", retryable: true, detail };
  // Without a system code the request was never sent: a wrong base URL or an impossible header.
  if (code === "" || code.startsWith("ERR_INVALID_")) return { code: "refused", retryable: false, detail };
  return { code: "unreachable", retryable: true, detail };
}
