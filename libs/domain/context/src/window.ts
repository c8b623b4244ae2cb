import type { LogMessage } from "@troupe/contracts";

/**
 * What part of the log a model is shown.
 *
 * W1 A window starts at a user message, so it never starts inside a call/result group.
 * W2 The last user message and all after it are always shown.
 * W3 The log itself is never changed.
 */

/** Rough size of a message in tokens: four characters each, the usual estimate for English, and a little for its frame. */
export function estimateTokens(message: LogMessage): number {
  const calls = message.role === "assistant" ? (message.tool_calls ?? []) : [];
  const callLength = calls.reduce((sum, call) => sum + call.function.name.length + call.function.arguments.length, 0);
  return Math.ceil(((message.content?.length ?? 0) + callLength) / 4) + 4;
}

/** The longest run of messages at the end of the log that fits the budget and starts legally. */
export function windowOf(log: readonly LogMessage[], budgetTokens: number): readonly LogMessage[] {
  let start = lastUserIndex(log);
  let used = 0;
  for (let i = log.length - 1; i >= 0; i--) {
    const message = log[i];
    if (message === undefined) break;
    used += estimateTokens(message);
    if (used > budgetTokens && i < start) break;
    if (message.role === "user" && i < start) start = i;
  }
  return log.slice(start);
}

function lastUserIndex(log: readonly LogMessage[]): number {
  for (let i = log.length - 1; i >= 0; i--) if (log[i]?.role === "user") return i;
  return 0;
}
