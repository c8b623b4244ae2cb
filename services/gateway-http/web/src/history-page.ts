import { JsonFields } from "./json-fields.js";

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON, as the model wrote it. */
  readonly arguments: string;
}

interface Place {
  /** Absolute, since the last reset. */
  readonly index: number;
  readonly turn: string;
}

export type HistoryMessage =
  | (Place & { readonly role: "user"; readonly content: string })
  | (Place & {
      readonly role: "assistant";
      readonly content: string | null;
      readonly calls: readonly ToolCall[];
      /** It says why there is no answer. */
      readonly failed: boolean;
    })
  | (Place & {
      readonly role: "tool";
      readonly callId: string;
      readonly content: string;
      readonly isError: boolean;
    });

/** A part of a conversation's log. */
export interface HistoryPage {
  readonly generation: number;
  readonly from: number;
  readonly total: number;
  readonly messages: readonly HistoryMessage[];
}

export function readHistoryPage(value: unknown): HistoryPage {
  const fields = new JsonFields(value);
  return {
    generation: fields.number("generation"),
    from: fields.number("from"),
    total: fields.number("total"),
    // A role that a later version adds is left out, not a reason to show nothing.
    messages: fields.list("messages", readMessage).filter((message) => message !== null),
  };
}

function readMessage(value: unknown): HistoryMessage | null {
  const fields = new JsonFields(value);
  const place = { index: fields.number("index"), turn: fields.text("turn") };
  switch (fields.text("role")) {
    case "user":
      return { ...place, role: "user", content: fields.text("content") };
    case "assistant":
      return {
        ...place,
        role: "assistant",
        content: fields.textOrNull("content"),
        calls: fields.list("tool_calls", readCall),
        failed: fields.flag("failed"),
      };
    case "tool":
      return {
        ...place,
        role: "tool",
        callId: fields.text("tool_call_id"),
        content: fields.text("content"),
        isError: fields.flag("isError"),
      };
    default:
      return null;
  }
}

function readCall(value: unknown): ToolCall {
  const fields = new JsonFields(value);
  const called = fields.objectOrNull("function");
  return { id: fields.text("id"), name: called?.text("name") ?? "", arguments: called?.text("arguments") ?? "" };
}
