import { type Final, readFinal } from "./api-answer.js";
import { JsonFields } from "./json-fields.js";

/** A piece of the answer as it is being written: a preview, which may be lost. */
export interface Delta {
  readonly turn: string;
  readonly attempt: number;
  /** Counts the model calls of the turn. */
  readonly step: number;
  /** Counts the deltas of the attempt, without gaps. */
  readonly seq: number;
  readonly text: string;
}

export interface ToolProgress {
  readonly turn: string;
  readonly callId: string;
  readonly name: string;
  readonly status: string;
  readonly summary: string;
}

/** What a conversation's stream tells. */
export type ChatEvent =
  | ({ readonly kind: "delta" } & Delta)
  | { readonly kind: "reset"; readonly turn: string; readonly attempt: number }
  | ({ readonly kind: "tool" } & ToolProgress)
  | { readonly kind: "notice"; readonly turn: string | null; readonly level: string; readonly text: string }
  | { readonly kind: "final"; readonly final: Final };

/**
 * @returns null for a kind that this version does not know
 * @throws UnexpectedJson, SyntaxError
 */
export function readChatEvent(kind: string, data: string): ChatEvent | null {
  const value: unknown = JSON.parse(data);
  const fields = new JsonFields(value);
  switch (kind) {
    case "delta":
      return {
        kind,
        turn: fields.text("turn"),
        attempt: fields.number("attempt"),
        step: fields.number("step", 1),
        seq: fields.number("seq"),
        text: fields.text("text"),
      };
    case "reset":
      return { kind, turn: fields.text("turn"), attempt: fields.number("attempt") };
    case "tool":
      return {
        kind,
        turn: fields.text("turn"),
        callId: fields.text("callId"),
        name: fields.text("name"),
        status: fields.text("status"),
        summary: fields.text("summary"),
      };
    case "task":
      return readTask(fields);
    case "approval":
      return readApproval(fields);
    case "notice":
      return { kind, turn: fields.textOrNull("turn"), level: fields.text("level"), text: fields.text("text") };
    case "final":
      return { kind, final: readFinal(value) };
    default:
      return null;
  }
}

/** A delegated task is shown like a tool: both are work that the turn waits for. */
function readTask(fields: JsonFields): ChatEvent {
  const outcomes: Readonly<Record<string, string>> = { queued: "started", running: "started", completed: "done" };
  const status = fields.text("status");
  return {
    kind: "tool",
    turn: fields.text("turn"),
    callId: `${fields.text("delegation")}/${fields.number("taskIndex")}`,
    name: fields.text("profile"),
    status: outcomes[status] ?? "error",
    summary: status,
  };
}

function readApproval(fields: JsonFields): ChatEvent {
  const status = fields.text("status");
  const tool = fields.text("tool");
  const text = status === "pending" ? `Waiting for approval to use ${tool}.` : `Approval for ${tool}: ${status}.`;
  return { kind: "notice", turn: fields.text("turn"), level: "info", text };
}
