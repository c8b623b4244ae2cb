import type { AssembledCall, ErrorCode, ModelFailureCode, ModelOutcome, ToolCallWire } from "@troupe/contracts";
import { isJsonObject } from "@troupe/history";

/**
 * InferenceStage: what a model's answer means. It decides, it does nothing.
 *
 * I1 Calls have unique, non-empty ids; one that is missing or taken is made, once.
 * I2 Stored arguments are a JSON object: strict providers refuse a history with broken JSON. What
 *    the model really wrote goes into the tool error.
 */
export type InferenceResult =
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "calls"; readonly text: string | null; readonly calls: readonly Call[] }
  /** Nothing to show: asked for again by the session, a bounded number of times. */
  | { readonly kind: "empty" }
  | { readonly kind: "failed"; readonly code: ErrorCode; readonly retryable: boolean };

export interface Call {
  readonly wire: ToolCallWire;
  /** The arguments as the model wrote them. */
  readonly raw: string;
}

export interface CallNaming {
  /** Ids that the history holds already. */
  readonly taken: ReadonlySet<string>;
  /** Whether `taken` are all of them: else an id too short to be unique by itself is not trusted. */
  readonly isWhole: boolean;
  /** Where made-up ids start from; unique for the model call. */
  readonly prefix: string;
}

export function interpret(outcome: Exclude<ModelOutcome, { kind: "aborted" }>, naming: CallNaming): InferenceResult {
  if (outcome.kind === "failed") {
    return { kind: "failed", code: FAILURES[outcome.code], retryable: outcome.retryable };
  }
  const text = outcome.text.trim() === "" ? null : outcome.text;
  if (outcome.calls.length > 0) return { kind: "calls", text, calls: nameCalls(outcome.calls, naming) };
  return text === null ? { kind: "empty" } : { kind: "answer", text };
}

const FAILURES: Readonly<Record<ModelFailureCode, ErrorCode>> = {
  unreachable: "model_unavailable",
  rate_limited: "model_unavailable",
  overloaded: "model_unavailable",
  server_error: "model_unavailable",
  stalled: "model_unavailable",
  cut: "model_unavailable",
  malformed: "model_unavailable",
  unauthorized: "model_refused",
  refused: "model_refused",
  context_too_long: "context_too_long",
};

/** Providers that draw ids at random make longer ones; those that count make shorter ones. */
const UNIQUE_LENGTH = 16;

function nameCalls(calls: readonly AssembledCall[], { taken, prefix, isWhole }: CallNaming): Call[] {
  const used = new Set(taken);
  return calls.map((call, i) => {
    const isUnique = call.id.length >= (isWhole ? 1 : UNIQUE_LENGTH) && !used.has(call.id);
    const id = isUnique ? call.id : `${prefix}_${i}`;
    used.add(id);
    const args = isJsonObject(call.arguments) ? call.arguments : "{}";
    return { wire: { id, type: "function", function: { name: call.name, arguments: args } }, raw: call.arguments };
  });
}
