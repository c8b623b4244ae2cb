import { IntakeRefusal } from "@troupe/channel-kit";
import { StreamFull, TooLarge, Unavailable } from "@troupe/jetstream";
import { HttpProblem } from "./problem.js";

/** Texts for what the HTTP framework refuses by itself; its own speak of its internals. */
const FRAMEWORK: Readonly<Record<string, readonly [status: number, code: string, detail: string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: [413, "too_large", "the body is over 1 MiB"],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    415,
    "unsupported_media_type",
    "the body must be JSON: send it with Content-Type: application/json",
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [400, "malformed_request", "the body is not as long as Content-Length says"],
  FST_ERR_BAD_URL: [400, "malformed_url", "the URL holds an escape that is no UTF-8 text"],
  FST_ERR_MAX_PARAM_LENGTH: [414, "url_too_long", "a part of the URL is too long"],
};

/** Names of the errors with which a read of NATS ends that got no answer. */
const NATS_ERRORS: ReadonlySet<string> = new Set(["WireError", "TimeoutError", "RequestError", "NoRespondersError"]);

/** What to answer to anything that was thrown; undefined for a defect, whose details stay inside. */
export function problemOf(error: unknown): HttpProblem | undefined {
  if (error instanceof HttpProblem) return error;
  if (error instanceof IntakeRefusal) {
    return new HttpProblem(error.code === "id_conflict" ? 409 : 422, error.code, error.message);
  }
  if (error instanceof StreamFull) {
    return new HttpProblem(503, "overloaded", "there is no room for more messages at the moment", {
      retryAfterMs: error.retryAfterMs,
      cause: error,
    });
  }
  if (error instanceof Unavailable) return unavailable(error, error.retryAfterMs);
  if (error instanceof TooLarge) {
    return new HttpProblem(413, "too_large", `the message is over ${error.limit} bytes`);
  }
  if (error instanceof Error && NATS_ERRORS.has(error.name)) return unavailable(error);
  return frameworkProblem(error);
}

/** NATS cannot be reached, or does not answer in time. */
export function unavailable(cause: unknown, retryAfterMs = 2_000): HttpProblem {
  return new HttpProblem(503, "unavailable", "the message system cannot be reached at the moment", {
    retryAfterMs,
    cause,
  });
}

/** A defect, told without its details. */
export function defect(cause: unknown): HttpProblem {
  return new HttpProblem(500, "internal", "the server failed on this request; its log says why", {
    cause,
  });
}

function frameworkProblem(error: unknown): HttpProblem | undefined {
  if (!(error instanceof Error) || !("statusCode" in error)) return undefined;
  const known = "code" in error ? FRAMEWORK[String(error.code)] : undefined;
  if (known !== undefined) return new HttpProblem(known[0], known[1], known[2]);
  const status = Number(error.statusCode);
  if (!(status >= 400 && status < 500)) return undefined;
  return new HttpProblem(status, "malformed_request", "the request could not be read");
}
