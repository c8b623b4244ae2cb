import type { ProviderError } from "./provider-error.js";

const codes = new Set([
  "context_length_exceeded", // OpenAI, Azure, Groq, OpenRouter
  "exceed_context_size_error", // llama.cpp
  "request_too_large", // Anthropic
  "string_above_max_length", // OpenAI, one message over its limit
]);

/** Wordings by which servers say that a request holds more tokens than the model takes. */
const wordings: readonly RegExp[] = [
  /maximum context length/i, // OpenAI, vLLM, DeepSeek, Mistral, OpenRouter
  /exceeds? (?:the |this |its )?(?:model'?s )?(?:available |maximum )?context (?:length|size|window|limit)/i, // llama.cpp, OpenAI, Anthropic
  /longer than the (?:maximum model length|model'?s context length)/i, // vLLM, SGLang
  /prompt is too long/i, // Anthropic
  /input is too long/i, // Bedrock
  /input length and .?max_tokens.? exceed/i, // Anthropic
  /maximum prompt length/i, // xAI
  /exceed(?:s|ed)? (?:the )?(?:model token limit|max(?:imum)? (?:length|number of tokens|context))/i, // Moonshot, Zhipu, Gemini
  /must have less than \d+ tokens|.inputs. tokens \+ .max_new_tokens. must be/i, // TGI
  /range of input length should be/i, // DashScope
  /greater than the context length|context the overflows/i, // LM Studio
  /reduce the length of the (?:messages|prompt|input)/i, // OpenAI, Groq
  /too many tokens in (?:the )?(?:prompt|request)/i,
];

/** A limit on tokens per minute that one request alone is over: waiting does not help, shortening does. */
const oversized = /request too large/i;

/** Whether a refusal (or an error inside a stream) means that the request was too long for the model. */
export function isContextTooLong(error: ProviderError, status: number | undefined): boolean {
  if (status === 413) return true;
  if (codes.has(error.code) || codes.has(error.type)) return true;
  if (status === 429) return oversized.test(error.message);
  if (status === 401 || status === 403 || status === 404) return false;
  return wordings.some((wording) => wording.test(error.raw));
}
