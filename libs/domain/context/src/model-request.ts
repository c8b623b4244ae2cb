import type { LogMessage, ModelMessage, ModelRequest, SessionFields, ToolSpec } from "@troupe/contracts";
import { estimateTokens, repair, windowOf } from "@troupe/history";

/** Who the agent is, and what it may be shown at most. */
export interface ContextSettings {
  readonly model: string;
  readonly instructions: string;
  readonly language: string;
  /** Budget for the conversation shown, in tokens. */
  readonly windowTokens: number;
}

/** The newest part of the log, as it was loaded, with the absolute index of its first message. */
export interface LoadedLog {
  readonly from: number;
  readonly messages: readonly LogMessage[];
}

type Shown = Pick<SessionFields, "summary" | "turn">;

/**
 * ContextStage: the model request for the next step of the running turn. What does not fit the window
 * is left out of the request, never out of the log; where a summary of it was made, that is shown in
 * its place. Honest failures told earlier are not shown to the model.
 */
export function modelRequest(
  { summary, turn }: Shown,
  { from, messages }: LoadedLog,
  settings: ContextSettings,
  tools: readonly ToolSpec[],
): ModelRequest {
  const whole = windowOf(messages, settings.windowTokens);
  const isPartial = from > 0 || whole.length < messages.length;
  // A summary ends before a user message, so what follows it is a window of its own.
  const beyond = summary === null ? [] : messages.slice(Math.max(0, summary.upTo - from));
  const window = isPartial && beyond.length > 0 ? windowOf(beyond, settings.windowTokens) : whole;
  const shown = repair(window.filter((message) => !isFailure(message)));
  const system = [
    settings.instructions,
    `Answer in the language the person writes in; when in doubt, in "${settings.language}".`,
    ...(isPartial && summary !== null ? [`The conversation so far, in short:\n${summary.text}`] : []),
    ...(turn?.instructions === undefined ? [] : [turn.instructions]),
  ].join("\n\n");
  return { model: settings.model, messages: [{ role: "system", content: system }, ...shown.map(toModel)], tools };
}

/** Whether so much of the log is loaded that more would not be shown. */
export function isEnough({ summary }: Shown, { from, messages }: LoadedLog, windowTokens: number): boolean {
  if (from <= (summary?.upTo ?? 0)) return true;
  const questions = messages.filter((message) => message.role === "user").length;
  return questions >= 2 && messages.reduce((sum, message) => sum + estimateTokens(message), 0) >= windowTokens;
}

/** The request for a summary of messages, building on the summary of what came before them. */
export function summaryRequest(
  { summary }: Pick<SessionFields, "summary">,
  messages: readonly LogMessage[],
  settings: Pick<ContextSettings, "model">,
): ModelRequest {
  const before = summary === null ? [] : [`Summary up to here:\n${summary.text}`];
  return {
    model: settings.model,
    messages: [
      { role: "system", content: SUMMARISE },
      { role: "user", content: [...before, "The conversation:", ...messages.flatMap(toLine)].join("\n\n") },
    ],
    tools: [],
  };
}

const SUMMARISE =
  "Summarise the conversation for the assistant that will continue it: facts, decisions, names, numbers, open questions and what the person wants. Write plain prose in the language of the conversation, at most 300 words. Do not answer anything in it.";

/** How speakers are called in what is to be summarised, and how much of one message is enough for that. */
const SPEAKERS = { user: ["Person", 8_000], assistant: ["Assistant", 8_000], tool: ["Tool result", 2_000] } as const;

function toLine(message: LogMessage): string[] {
  if (isFailure(message)) return [];
  if (message.content === null) return [];
  const [speaker, most] = SPEAKERS[message.role];
  const length = message.content.length + (message.rest?.length ?? 0);
  return [`${speaker}: ${length > most ? `${message.content.slice(0, most)} […]` : message.content}`];
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
