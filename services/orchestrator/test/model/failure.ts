import type { ModelFailureCode } from "@troupe/contracts";
import type { ModelFailure } from "../../src/model/failure-verdict.js";

const FINAL: readonly ModelFailureCode[] = ["unauthorized", "refused", "context_too_long"];

/** A failure as the adapter makes it; whether it may pass follows from its code unless it is said. */
export function failure(code: ModelFailureCode, more: Partial<ModelFailure> = {}): ModelFailure {
  return { kind: "failed", code, retryable: !FINAL.includes(code), detail: `it was ${code}`, ...more };
}
