import type { LogMessage } from "@troupe/contracts";

/**
 * What part of the log a model is shown.
 *
 * W1 A window starts at a user message, so it never starts inside a call/result group.
 * W2 The last user message and all after it are always shown.
 * W3 The log itself is never changed.
 */

/** Frame of a message in tokens: role and separators, as chat templates add them. */
const FRAME_TOKENS = 4;
/** ASCII characters to a token. */
const ASCII_PER_TOKEN = 4;

/**
 * Rough size of a text in tokens: four ASCII characters each, the usual estimate for English, and one
 * for every other character, which is near the truth for Chinese and too much for most else.
 */
export function estimateTextTokens(text: string): number {
  let wide = 0;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) wide += 1;
  return Math.ceil((text.length - wide) / ASCII_PER_TOKEN) + wide;
}

export function estimateTokens(message: LogMessage): number {
  const calls = message.role === "assistant" ? (message.tool_calls ?? []) : [];
  const texts = [message.content ?? "", ...calls.flatMap((call) => [call.function.name, call.function.arguments])];
  return FRAME_TOKENS + texts.reduce((sum, text) => sum + estimateTextTokens(text), 0);
}

/** Place of the first message of the longest legal window at the end of the log that fits the budget. */
export function windowStart(log: readonly LogMessage[], budgetTokens: number): number {
  const lastUser = log.findLastIndex((message) => message.role === "user");
  let start = Math.max(0, lastUser);
  let used = 0;
  for (let i = log.length - 1; i >= 0; i--) {
    const message = log[i];
    if (message === undefined) break;
    used += estimateTokens(message);
    if (used > budgetTokens && i < start) break;
    if (message.role === "user" && i < start) start = i;
  }
  return start;
}
