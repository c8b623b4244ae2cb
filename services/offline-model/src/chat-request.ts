import { z } from "zod";
import { RequestError } from "./request-error.js";

const part = z.object({ text: z.string().optional() });

const message = z.object({
  role: z.enum(["system", "developer", "user", "assistant", "tool"]),
  content: z.union([z.string(), z.array(part)]).nullish(),
  tool_calls: z.array(z.object({ id: z.string(), function: z.object({ name: z.string() }) })).nullish(),
  tool_call_id: z.string().nullish(),
});

const request = z.object({
  model: z.string().min(1),
  messages: z.array(message).min(1),
  tools: z.array(z.object({ function: z.object({ name: z.string() }) })).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
});

export interface ChatMessage {
  readonly role: z.infer<typeof message>["role"];
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string }[];
  /** The call that a tool message answers. */
  readonly callId: string;
}

/** As much of a chat request as the scripts look at. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly toolNames: ReadonlySet<string>;
  readonly isStreamed: boolean;
  readonly wantsUsage: boolean;
}

/** @throws RequestError naming the first thing that is wrong. */
export function readChatRequest(body: string): ChatRequest {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new RequestError(400, "The body is no JSON.");
  }
  const parsed = request.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const path = issue?.path.join(".") ?? "";
    throw new RequestError(400, `${path === "" ? "The body" : path}: ${issue?.message}`, path);
  }
  const { model, messages, tools, stream, stream_options: options } = parsed.data;
  return {
    model,
    messages: messages.map((one) => ({
      role: one.role,
      text: textOf(one.content),
      calls: (one.tool_calls ?? []).map((call) => ({ id: call.id, name: call.function.name })),
      callId: one.tool_call_id ?? "",
    })),
    toolNames: new Set((tools ?? []).map((tool) => tool.function.name)),
    isStreamed: stream === true,
    wantsUsage: options?.include_usage === true,
  };
}

function textOf(content: z.infer<typeof message>["content"]): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((one) => one.text ?? "").join("");
}
