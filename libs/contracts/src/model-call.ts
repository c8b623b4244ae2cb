/**
 * The seam between the stages that decide about a model's answer and the adapter that fetches it.
 * It is not a wire message: a model call never crosses NATS. Failure is data, never a throw.
 */
export interface ToolCallWire {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

export type ModelMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string }
  | {
      readonly role: "assistant";
      readonly content: string | null;
      readonly tool_calls?: readonly ToolCallWire[];
    }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string };

/** What a model is told about a tool. `parameters` is a JSON Schema object. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  readonly model: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolSpec[];
  /** Upper bound for the answer, in tokens; absent: the provider's own. */
  readonly maxTokens?: number;
}

/** A tool call as it was assembled from the stream; `arguments` is the raw text, perhaps no JSON. */
export interface AssembledCall {
  /** As the provider named it; empty when it named none (the inference stage makes one, once). */
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** Tokens as the provider counted them; 0 when it did not say. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export type ModelFailureCode =
  | "unreachable" // refused connection, DNS, TLS
  | "rate_limited" // 429
  | "overloaded" // 503
  | "server_error" // other 5xx
  | "unauthorized" // 401, 403
  | "refused" // other 4xx: never retried
  | "context_too_long"
  | "too_long" // the answer grew beyond all measure
  | "stalled" // no byte for the stall limit
  | "cut" // the stream ended before its end marker
  | "malformed"; // the body was not what the protocol says

export type ModelOutcome =
  | {
      readonly kind: "answer";
      readonly text: string;
      readonly calls: readonly AssembledCall[];
      /** The provider's finish reason as it stands ("stop", "length", "tool_calls", …). */
      readonly finish: string;
      readonly usage: ModelUsage;
      /** The model that answered, as the provider named it. */
      readonly model: string;
    }
  | { readonly kind: "aborted" }
  | {
      readonly kind: "failed";
      readonly code: ModelFailureCode;
      readonly retryable: boolean;
      /** From Retry-After, in milliseconds, when the provider said so. */
      readonly retryAfterMs?: number;
      /** For the operator's log; may name hosts. Never shown to the person. */
      readonly detail: string;
    };

export interface ModelClient {
  /**
   * One streamed model call. Resolves with the outcome, never rejects.
   * @param onText called for each piece of answer text as it arrives; never for reasoning fields.
   * @param signal aborting it ends the call with `{ kind: "aborted" }`.
   */
  complete(
    request: ModelRequest,
    options: { readonly signal: AbortSignal; readonly onText: (text: string) => void },
  ): Promise<ModelOutcome>;
}
