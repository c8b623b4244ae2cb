import type { LogMessage, ModelMessage, ModelRequest, SessionFields, ToolSpec } from "@troupe/contracts";
import { windowOf } from "./window.js";

/** Who the agent is, and what it may be shown at most. */
export interface ContextSettings {
  readonly model: string;
  readonly instructions: string;
  readonly language: string;
  /** Budget for the conversation shown, in tokens. */
  readonly windowTokens: number;
}

/**
 * ContextStage: the model request for the next step of the running turn. The person's client may
 * add instructions for this turn alone; honest failures told earlier are not shown to the model.
 */
export function modelRequest(
  fields: SessionFields,
  settings: ContextSettings,
  tools: readonly ToolSpec[],
): ModelRequest {
  const shown = windowOf(fields.log.tail, settings.windowTokens).filter((message) => !isFailure(message));
  const system = [
    settings.instructions,
    `Answer in the language the person writes in; when in doubt, in "${settings.language}".`,
    ...(fields.turn?.instructions === undefined ? [] : [fields.turn.instructions]),
  ].join("\n\n");
  return { model: settings.model, messages: [{ role: "system", content: system }, ...shown.map(toModel)], tools };
}

function isFailure(message: LogMessage): boolean {
  return message.role === "assistant" && message.failed === true;
}

function toModel(message: LogMessage): ModelMessage {
  switch (message.role) {
    case "user":
      return { role: "user", content: message.content };
    case "assistant":
      return message.tool_calls === undefined
        ? { role: "assistant", content: message.content ?? "" }
        : { role: "assistant", content: message.content, tool_calls: message.tool_calls };
    case "tool":
      return { role: "tool", tool_call_id: message.tool_call_id, content: message.content };
  }
}
