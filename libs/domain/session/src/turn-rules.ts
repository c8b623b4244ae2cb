import type { Toolbox } from "@troupe/tools";

/** What to do with a user message that arrives while a turn is running. */
export type SecondMessage =
  /** It waits for its own turn. */
  | "queue"
  /** The running turn takes it in at its next step. */
  | "steer"
  /** The running turn ends as cancelled, and it begins. */
  | "interrupt";

export interface TurnLimits {
  /** Model calls in one turn. */
  readonly maxSteps: number;
  readonly deadlineMs: number;
  /** Tokens of all model calls of one turn, input and output. */
  readonly maxTokens: number;
  /** The person hears that the turn is still going on after this; 0: never. */
  readonly noticeMs: number;
}

/** What a session goes by; the same for all of its commits in one process. */
export interface TurnRules {
  readonly limits: TurnLimits;
  readonly toolbox: Toolbox;
  readonly secondMessage: SecondMessage;
  /** Goes before the first answer of a generation; null: none. */
  readonly introduction: string | null;
  /** Budget for the conversation shown to the model, in tokens. */
  readonly windowTokens: number;
}
