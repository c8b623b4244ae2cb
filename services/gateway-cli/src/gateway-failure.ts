export interface FailureOptions {
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** The HTTP status, when there was an answer. */
  readonly status?: number;
  /** The least wait that the gateway asked for. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** A request that came to nothing; `message` is one line for the person at the terminal. */
export class GatewayFailure extends Error {
  readonly retryable: boolean;
  readonly status: number | undefined;
  readonly retryAfterMs: number;

  constructor(message: string, { retryable, status, retryAfterMs = 0, cause }: FailureOptions) {
    super(message, { cause });
    this.name = "GatewayFailure";
    this.retryable = retryable;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}
