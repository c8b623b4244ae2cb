import type { ModelOutcome } from "@troupe/contracts";
import type { ToolResult } from "@troupe/tools";

/** Work a session asks its process to do, as it is listed in the state. */
export type SessionRun =
  | {
      readonly kind: "infer";
      readonly turn: string;
      readonly step: number;
      readonly attempt: number;
      readonly deadlineAt: number;
      /** Asked again after a takeover: what was shown of it so far is void. */
      readonly resumed?: true;
      readonly trace?: string | undefined;
    }
  | {
      readonly kind: "tool";
      readonly turn: string;
      readonly callId: string;
      readonly name: string;
      readonly arguments: string;
      readonly deadlineAt: number;
    }
  /** Ends after a while, so that the person can be told that the turn still goes on. */
  | { readonly kind: "patience"; readonly turn: string; readonly ms: number }
  /** A summary of the log's messages before `to` (absolute), made beside the turns. */
  | { readonly kind: "summarise"; readonly generation: number; readonly to: number };

/** What came of it. */
export type SessionOutcome =
  | {
      readonly kind: "model";
      readonly outcome: Exclude<ModelOutcome, { kind: "aborted" }>;
      /** The text is without reasoning already: of a long one that is not done in one go. */
      readonly isClean?: true;
    }
  | { readonly kind: "tool"; readonly result: ToolResult & { readonly blob?: string | null } }
  /** The turn's time was up before it ended. */
  | { readonly kind: "deadline" }
  | { readonly kind: "passed" }
  /** null: it could not be made; nothing is lost by that. */
  | { readonly kind: "summary"; readonly text: string | null };
