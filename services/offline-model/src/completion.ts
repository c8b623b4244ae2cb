import type { ChatRequest } from "./chat-request.js";
import type { Script } from "./script.js";

/** A script that is an answer. */
export type AnswerScript = Exclude<Script, { readonly kind: "failure" }>;

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

/** A streamed answer has at most so many pieces, however long it is. */
const maxPieces = 100;

/** Tokens by the rule of thumb of four characters each: a model without a vocabulary has no better count. */
export function usageOf(request: ChatRequest, script: AnswerScript): Usage {
  const count = (text: string): number => Math.ceil(text.length / 4);
  const prompt_tokens = request.messages.reduce((sum, message) => sum + count(message.text) + 1, 0);
  const completion_tokens =
    script.kind === "text" ? count(script.text) : count(script.name + JSON.stringify(script.arguments));
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

/** The answer as one body. */
export function wholeCompletion(request: ChatRequest, script: AnswerScript): Readonly<Record<string, unknown>> {
  const message =
    script.kind === "text"
      ? { role: "assistant", content: script.text }
      : {
          role: "assistant",
          content: null,
          tool_calls: [wireCall(script, JSON.stringify(script.arguments))],
        };
  return {
    ...envelope(request, "chat.completion"),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(script) }],
    usage: usageOf(request, script),
  };
}

/** The answer as chunks, without the usage and the end marker. */
export function* completionChunks(request: ChatRequest, script: AnswerScript): Generator<unknown> {
  const chunk = (delta: unknown, finish: string | null = null): unknown => ({
    ...envelope(request, "chat.completion.chunk"),
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  });
  if (script.kind === "text") {
    yield chunk({ role: "assistant", content: "" });
    for (const piece of textPieces(script)) yield chunk({ content: piece });
  } else {
    yield chunk({
      role: "assistant",
      content: null,
      tool_calls: [{ index: 0, ...wireCall(script, "") }],
    });
    for (const piece of argumentPieces(JSON.stringify(script.arguments))) {
      yield chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] });
    }
  }
  yield chunk({}, finishOf(script));
}

export function usageChunk(request: ChatRequest, script: AnswerScript): unknown {
  return {
    ...envelope(request, "chat.completion.chunk"),
    choices: [],
    usage: usageOf(request, script),
  };
}

/** Words, each with the space after it; of a text without a pace several at a time if there are many. */
export function textPieces(script: Extract<Script, { readonly kind: "text" }>): readonly string[] {
  const words = script.text.match(/\S+\s*|\s+/g) ?? [];
  if (script.spreadMs > 0) return words;
  const size = Math.ceil(words.length / maxPieces);
  const pieces: string[] = [];
  for (let at = 0; at < words.length; at += size) pieces.push(words.slice(at, at + size).join(""));
  return pieces;
}

function argumentPieces(text: string): readonly string[] {
  const size = Math.max(8, Math.ceil(text.length / maxPieces));
  // By code points: half of an emoji could not be sent.
  return text.match(new RegExp(`.{1,${size}}`, "gsu")) ?? [];
}

function wireCall(script: Extract<Script, { readonly kind: "call" }>, args: string) {
  return { id: script.id, type: "function", function: { name: script.name, arguments: args } };
}

function finishOf(script: AnswerScript): string {
  return script.kind === "text" ? "stop" : "tool_calls";
}

function envelope(request: ChatRequest, object: string) {
  return {
    id: `chatcmpl-offline-${request.messages.length}`,
    object,
    created: 0,
    model: request.model,
  };
}
