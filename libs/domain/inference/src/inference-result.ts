import type { AssembledCall, ErrorCode, ModelFailureCode, ModelOutcome, ToolCallWire } from "@troupe/contracts";
import { wholeCharacter } from "@troupe/contracts";
import { isJsonObject, jsonLength } from "@troupe/history";

/**
 * InferenceStage: what a model's answer means. It decides, it does nothing.
 *
 * I1 Calls have unique, non-empty ids; one that is missing or taken is made, once.
 * I2 Stored arguments are a JSON object: strict providers refuse a history with broken JSON. What
 *    the model really wrote goes into the tool error.
 * I3 What one answer may call is bounded, in number and size, so that a commit can hold it (K12). What is
 *    beyond is not made, and the model is told.
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
  /** Why it is not made, in words for the model. */
  readonly refused?: string;
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
  too_long: "budget_exceeded",
};

/** Providers that draw ids at random make longer ones; those that count make shorter ones. */
const UNIQUE_LENGTH = 16;

/** Longer ones are no names: of tools, providers take 64 characters. */
const MOST_NAME_LENGTH = 128;
/** Calls in one answer, and bytes of all their arguments: a call is in the log and, while it runs, beside it. */
const MOST_CALLS = 64;
const MOST_ARGUMENT_BYTES = 128 * 1024;

function nameCalls(calls: readonly AssembledCall[], { taken, prefix, isWhole }: CallNaming): Call[] {
  const used = new Set(taken);
  let left = MOST_ARGUMENT_BYTES;
  return calls.slice(0, MOST_CALLS).map((call, i) => {
    const isName = call.id.length >= (isWhole ? 1 : UNIQUE_LENGTH) && call.id.length <= MOST_NAME_LENGTH;
    const id = isName && !used.has(call.id) ? call.id : `${prefix}_${i}`;
    used.add(id);
    const size = jsonLength(call.arguments);
    const refused = refusalOf(calls.length, i, size > left ? call.arguments.length : 0);
    if (refused === undefined) left -= size;
    const args = refused === undefined && isJsonObject(call.arguments) ? call.arguments : "{}";
    const wire: ToolCallWire = {
      id,
      type: "function",
      function: { name: call.name.slice(0, wholeCharacter(call.name, MOST_NAME_LENGTH)), arguments: args },
    };
    return { wire, raw: call.arguments, ...(refused === undefined ? {} : { refused }) };
  });
}

/** I3 */
function refusalOf(count: number, place: number, tooLong: number): string | undefined {
  if (count > MOST_CALLS && place === MOST_CALLS - 1) {
    return `Too many calls at once: ${count}, at most ${MOST_CALLS}. This one and those after it were not made.`;
  }
  if (tooLong === 0) return undefined;
  return `Not called: the arguments are too long (${tooLong} characters). All calls of one answer may have ${MOST_ARGUMENT_BYTES} bytes of them.`;
}
