import type { ModelOutcome } from "@troupe/contracts";

export type ModelFailure = Extract<ModelOutcome, { kind: "failed" }>;

/** What a failure means for the rest of the call. */
export type FailureVerdict =
  /** May pass: the same model again after a back-off. */
  | "again"
  /** The provider says when to come back. */
  | "later"
  /** This model will not do it. */
  | "next-model"
  /** Nor will any other model of the provider. */
  | "next-provider"
  /** Nobody else is asked. */
  | "end";

/** ADR 0009 has the reasons. */
export function verdictOf(failure: ModelFailure): FailureVerdict {
  switch (failure.code) {
    case "refused":
    case "context_too_long":
    case "too_long":
      return "end";
    case "unauthorized":
      return "next-provider";
    case "rate_limited":
    case "unreachable":
    case "malformed":
      // A spent quota, a certificate that is not trusted, a server that speaks something else.
      return failure.retryable ? whenPassing(failure) : "next-provider";
    case "overloaded":
    case "server_error":
    case "stalled":
    case "cut":
      return failure.retryable ? whenPassing(failure) : "next-model";
  }
}

/** Whether the provider asks everybody to stay away, and not only this call to come back. */
export function pauseOf(failure: ModelFailure): number | undefined {
  return verdictOf(failure) === "later" ? failure.retryAfterMs : undefined;
}

/** Whether the failure says that the model does not work, and not that it works and says no. */
export function isBreakage(failure: ModelFailure): boolean {
  const verdict = verdictOf(failure);
  return verdict !== "end" && verdict !== "later";
}

function whenPassing({ retryAfterMs = 0 }: ModelFailure): FailureVerdict {
  return retryAfterMs > 0 ? "later" : "again";
}
