import type { LogMessage, ModelMessage, ModelRequest, SessionFields, ToolSpec } from "@troupe/contracts";
import { windowStart } from "@troupe/history";

/** Who the agent is, and what it may be shown at most. */
export interface ContextSettings {
  readonly model: string;
  readonly instructions: string;
  readonly language: string;
  /** Budget for the conversation shown, in tokens. */
  readonly windowTokens: number;
}

/**
 * ContextStage: the model request for the next step of the running turn, from the state alone. What
 * does not fit the window is left out of the request, never out of the log; where a summary of it
 * was made, that is shown in its place. Honest failures told earlier are not shown to the model.
 */
export function modelRequest(
  fields: SessionFields,
  settings: ContextSettings,
  tools: readonly ToolSpec[],
): ModelRequest {
  const { log, summary, turn } = fields;
  const window = windowStart(log.tail, settings.windowTokens);
  const covered = summary === null || window === 0 ? 0 : summary.upTo - log.from;
  const shown = log.tail.slice(Math.max(window, covered)).filter((message) => !isFailure(message));
  const system = [
    settings.instructions,
    `Answer in the language the person writes in; when in doubt, in "${settings.language}".`,
    ...(covered > 0 && summary !== null ? [`The conversation so far, in short:\n${summary.text}`] : []),
    ...(turn?.instructions === undefined ? [] : [turn.instructions]),
  ].join("\n\n");
  return { model: settings.model, messages: [{ role: "system", content: system }, ...shown.map(toModel)], tools };
}

/** The request for a summary of the log's messages before `to` (absolute), building on the present one. */
export function summaryRequest(fields: SessionFields, to: number, settings: ContextSettings): ModelRequest {
  const { log, summary } = fields;
  const from = Math.max(0, (summary?.upTo ?? 0) - log.from);
  const lines = log.tail.slice(from, to - log.from).flatMap(toLine);
  const before = summary === null ? [] : [`Summary up to here:\n${summary.text}`];
  return {
    model: settings.model,
    messages: [
      { role: "system", content: SUMMARISE },
      { role: "user", content: [...before, "The conversation:", ...lines].join("\n\n") },
    ],
    tools: [],
  };
}

const SUMMARISE =
  "Summarise the conversation for the assistant that will continue it: facts, decisions, names, numbers, open questions and what the person wants. Write plain prose in the language of the conversation, at most 300 words. Do not answer anything in it.";

function toLine(message: LogMessage): string[] {
  if (isFailure(message)) return [];
  if (message.role === "tool") return [`Tool result: ${message.content.slice(0, 2_000)}`];
  const speaker = message.role === "user" ? "Person" : "Assistant";
  return message.content === null ? [] : [`${speaker}: ${message.content}`];
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
