import type { LogMessage } from "@troupe/contracts";

/**
 * What part of the log a model is shown.
 *
 * W1 A window starts at a user message and consists of whole groups: an assistant message with calls
 *    is never parted from their results.
 * W2 The last user message is always shown, with all that followed it as far as it fits: if not all of
 *    it does, the newest groups, at least one.
 * W3 What comes before is shown turn by turn, the newest first. Of the first turn that does not fit
 *    whole, its question and its newest groups are shown, so that the last answer is never missing.
 * W4 The log itself is never changed.
 */

/** Frame of a message in tokens: role and separators, as chat templates add them. */
const FRAME_TOKENS = 4;
/** ASCII characters to a token. */
const ASCII_PER_TOKEN = 4;
/** Share of the budget that the answer before the last question may take when it would not fit otherwise. */
const LAST_ANSWER = 0.5;

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
  return FRAME_TOKENS + (message.rest?.tokens ?? 0) + texts.reduce((sum, text) => sum + estimateTextTokens(text), 0);
}

const sizeOf = (messages: readonly LogMessage[]): number =>
  messages.reduce((sum, message) => sum + estimateTokens(message), 0);

/** The messages to show, in order. What stands before the first user message is left out (W1). */
export function windowOf(log: readonly LogMessage[], budgetTokens: number): readonly LogMessage[] {
  const turns = split(log, (message) => message.role === "user").filter(([first]) => first?.role === "user");
  let shown: readonly LogMessage[] = [];
  let left = budgetTokens;
  for (const [age, turn] of turns.reverse().entries()) {
    const size = sizeOf(turn);
    if (size > left) {
      // The newest turn shows one group whatever it costs, the one before it one of a sensible size.
      const atLeast = [Number.POSITIVE_INFINITY, budgetTokens * LAST_ANSWER][age] ?? 0;
      return [...newestOf(turn, left, atLeast), ...shown];
    }
    shown = [...turn, ...shown];
    left -= size;
  }
  return shown;
}

/** The question of a turn and its newest groups that fit; nothing when none does and the newest is over `atLeast`. */
function newestOf(turn: readonly LogMessage[], budgetTokens: number, atLeast: number): readonly LogMessage[] {
  const [question, ...rest] = turn;
  if (question === undefined) return [];
  let left = budgetTokens - estimateTokens(question);
  let kept: readonly LogMessage[] = [];
  for (const group of split(rest, (message) => message.role !== "tool").reverse()) {
    const size = sizeOf(group);
    if (size > left && !(kept.length === 0 && size <= atLeast)) break;
    kept = [...group, ...kept];
    left -= size;
  }
  return kept.length > 0 || atLeast === Number.POSITIVE_INFINITY ? [question, ...kept] : [];
}

/** Parts a list before each message that begins a part. */
function split(log: readonly LogMessage[], begins: (message: LogMessage) => boolean): LogMessage[][] {
  const parts: LogMessage[][] = [];
  for (const message of log) {
    const last = parts.at(-1);
    if (last === undefined || begins(message)) parts.push([message]);
    else last.push(message);
  }
  return parts;
}
