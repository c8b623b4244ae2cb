import type { Final } from "@troupe/contracts";

/**
 * What became of a turn on its way out: not what a model said (that is inference's result), but what the
 * person gets. Nothing else may send a second answer.
 */
export interface ProcessResult {
  readonly turn: string;
  readonly kind: Final["kind"];
  readonly text: string;
  readonly error: Final["error"];
  /** True only when OUTBOX has acknowledged the reply; a commit that lists it is a promise, not a delivery. */
  readonly outboundSent: boolean;
}

export function processResult({ turn, kind, text, error }: Final, outboundSent: boolean): ProcessResult {
  return { turn, kind, text, error, outboundSent };
}
