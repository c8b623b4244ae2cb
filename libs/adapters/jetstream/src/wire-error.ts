/**
 * Why a request to the server got no answer.
 *
 * `timeout`, `disconnected`: whether it was carried out is unknown.
 * `no-responders`: nobody listens there now (a change of leader, a missing stream).
 * `too-large`: over the server's max_payload, not sent. `forbidden`: refused by permissions. `closed`: this process is ending.
 */
export type WireErrorKind = "timeout" | "disconnected" | "no-responders" | "too-large" | "forbidden" | "closed";

const MEANING: Readonly<Record<WireErrorKind, string>> = {
  timeout: "no answer in time",
  disconnected: "the connection to NATS is down",
  "no-responders": "nobody answers there",
  "too-large": "larger than the server's max_payload",
  forbidden: "not permitted",
  closed: "the connection was closed",
};

export class WireError extends Error {
  override readonly name = "WireError";
  readonly kind: WireErrorKind;

  constructor(kind: WireErrorKind, subject: string) {
    super(`${subject}: ${MEANING[kind]}`);
    this.kind = kind;
  }
}

/** The server answered, with a refusal. `code` is JetStream's `err_code`, or the status of a direct get. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: number;

  constructor(code: number, subject: string, description: string) {
    super(`${subject}: ${description} (${code})`);
    this.code = code;
  }
}
