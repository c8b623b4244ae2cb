import type { ErrorCode, Final, LogMessage, RecentTurn } from "@troupe/contracts";

/**
 * ResponseStage: the boundary between a running turn and recoverable history. It turns how a turn
 * ended into the one FINAL and what the log keeps of it.
 *
 * F1 One turn has one FINAL; it carries the whole text and replaces any preview.
 * F2 The introduction is product text, goes before an answer only, and never before a failure.
 * F3 What the person was told is in the log; a failure is marked, so that the model is not shown it.
 */
export type Ending =
  | { readonly kind: "answer"; readonly text: string; readonly introduction: string | null }
  | { readonly kind: "error"; readonly code: ErrorCode; readonly retryable: boolean }
  | { readonly kind: "cancelled" }
  /** Taken up by the running turn, which answers for it. */
  | { readonly kind: "merged"; readonly into: string };

export interface Finalized {
  readonly final: Final;
  /** Appended to the log before the commit; null when the log keeps nothing of the ending. */
  readonly message: LogMessage | null;
  /** What the state remembers, so that a repeated client id gets the same answer. */
  readonly record: NonNullable<RecentTurn["final"]>;
}

/** `messageCount` is the log's length before the ending; `at` in milliseconds since the epoch. */
export function finalize(
  ending: Ending,
  turn: string,
  place: { readonly messageCount: number; readonly generation: number; readonly at: number },
): Finalized {
  const { messageCount, generation, at } = place;
  const text = textOf(ending);
  const message = messageOf(ending, text, turn, at);
  const common = {
    kind: ending.kind,
    introduction: ending.kind === "answer" ? ending.introduction : null,
    index: message === null ? Math.max(0, messageCount - 1) : messageCount,
    error: ending.kind === "error" ? { code: ending.code, retryable: ending.retryable } : null,
    mergedInto: ending.kind === "merged" ? ending.into : null,
  };
  return {
    final: { ...common, turn, text, at: new Date(at).toISOString() },
    message,
    record: { ...common, text: message === null ? text : null, at, generation },
  };
}

function messageOf(ending: Ending, text: string, turn: string, at: number): LogMessage | null {
  if (ending.kind === "cancelled" || ending.kind === "merged") return null;
  const message = { role: "assistant", turn, at, content: text } as const;
  return ending.kind === "error" ? { ...message, failed: true } : message;
}

function textOf(ending: Ending): string {
  switch (ending.kind) {
    case "answer":
      return ending.introduction === null ? ending.text : `${ending.introduction}\n\n${ending.text}`;
    case "cancelled":
      return "Cancelled.";
    case "merged":
      return "";
    case "error":
      return REASONS[ending.code];
  }
}

/** Plain words for the person; no internals. */
const REASONS: Readonly<Record<ErrorCode, string>> = {
  model_unavailable: "The model could not be reached. Please try again in a moment.",
  model_refused: "The model service refused the request. The operator's log says why.",
  context_too_long: "This conversation has become too long for the model. A reset starts it anew.",
  empty_answer: "The model gave no answer, although it was asked several times. Please try again.",
  budget_exceeded: "This turn used up its token budget before an answer was found.",
  turn_limit: "This turn took as many steps as it may without finding an answer.",
  deadline: "This turn ran out of time before an answer was found.",
  internal: "Something went wrong inside. The operator's log says what.",
};
