import type { ModelRequest } from "@troupe/contracts";
import { APIError, type OpenAI } from "openai";

/** How a request is put to this provider and model. */
export interface RequestForm {
  /** Whether to ask for usage numbers in the stream. */
  readonly usage: boolean;
  readonly tokenField: "max_tokens" | "max_completion_tokens";
}

/** Remembers which optional fields a provider refused, so that each is refused once and not with every call. */
export class RequestForms {
  #usage = true;
  readonly #newTokenField = new Set<string>();

  for(model: string): RequestForm {
    return {
      usage: this.#usage,
      tokenField: this.#newTokenField.has(model) ? "max_completion_tokens" : "max_tokens",
    };
  }

  /**
   * The form to try instead, when the refusal names a field of the one that was sent.
   * Each step takes one field away, so there are at most two.
   */
  learn(sent: RequestForm, request: ModelRequest, error: unknown): RequestForm | undefined {
    if (!(error instanceof APIError) || (error.status !== 400 && error.status !== 422)) return undefined;
    const words = `${error.message} ${error.param ?? ""} ${JSON.stringify(error.error ?? "")}`;
    if (sent.usage && /stream_options|include_usage/i.test(words)) {
      this.#usage = false;
      return { ...sent, usage: false };
    }
    // Reasoning models of OpenAI know only the newer name of the limit, most other servers only the older.
    const isOldField = request.maxTokens !== undefined && sent.tokenField === "max_tokens";
    if (isOldField && /max_completion_tokens/.test(words) && !/too large/i.test(words)) {
      this.#newTokenField.add(request.model);
      return { ...sent, tokenField: "max_completion_tokens" };
    }
    return undefined;
  }
}

type WireMessage = OpenAI.Chat.ChatCompletionMessageParam;

/** The request as it goes over the wire. */
export function wireRequest(request: ModelRequest, form: RequestForm): OpenAI.Chat.ChatCompletionCreateParamsStreaming {
  return {
    model: request.model,
    messages: request.messages.map(wireMessage),
    stream: true,
    // Strict servers refuse an empty list of tools.
    ...(request.tools.length === 0
      ? {}
      : {
          tools: request.tools.map((tool) => ({
            type: "function" as const,
            function: { ...tool },
          })),
        }),
    ...(request.maxTokens === undefined ? {} : { [form.tokenField]: request.maxTokens }),
    ...(form.usage ? { stream_options: { include_usage: true } } : {}),
  };
}

function wireMessage(message: ModelRequest["messages"][number]): WireMessage {
  if (message.role !== "assistant") return message;
  const calls = message.tool_calls ?? [];
  if (calls.length === 0) return { role: "assistant", content: message.content };
  return { role: "assistant", content: message.content, tool_calls: [...calls] };
}
