import { createHash } from "node:crypto";
import { MAX_TEXT_LENGTH } from "@troupe/contracts";
import { z } from "zod";
import { HttpProblem, readFields } from "../problem.js";
import { badRequest } from "./openai-error.js";

/** What a chat completion asks of Troupe. */
export interface ChatRequest {
  /** As the client wrote it; echoed. */
  readonly model: string;
  readonly text: string;
  /** The client's system messages: for this turn alone. */
  readonly instructions: string | undefined;
  readonly user: string | undefined;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** SHA-256 of all messages, hex: the same for the same request sent again. */
  readonly digest: string;
}

const Part = z.object({ type: z.string(), text: z.string().optional() });
const Message = z.object({
  role: z.string(),
  content: z.union([z.string(), z.array(Part)], "expected a string or an array of parts").nullish(),
});

/** Fields that are not named here (temperature, max_tokens, …) have no counterpart and are ignored, as servers of this protocol do. */
const Body = z.object({
  model: z.string().min(1),
  messages: z.array(Message).min(1),
  user: z.string().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.number().nullish(),
  tools: z.array(z.unknown()).nullish(),
  functions: z.array(z.unknown()).nullish(),
  response_format: z.object({ type: z.string() }).nullish(),
});
type Body = z.infer<typeof Body>;
type Message = z.infer<typeof Message>;

/**
 * @param models the names under which the model may be asked for
 * @throws HttpProblem 400 or 404
 */
export function readChatRequest(body: unknown, models: readonly string[]): ChatRequest {
  const parsed = readFields(Body, body);
  refuseUnsupported(parsed);
  if (!models.includes(parsed.model)) {
    const message = `the model ${parsed.model} does not exist here`;
    const errors = [{ path: "model", message }];
    throw new HttpProblem(404, "model_not_found", message, { errors });
  }
  const { messages } = parsed;
  const place = messages.findLastIndex(({ role }) => role === "user");
  const last = messages[place];
  if (last === undefined) throw badRequest("messages", "no_user_message", "expected a user message");
  const text = textOf(last, place);
  const path = `messages.${place}.content`;
  if (text === "") throw badRequest(path, "empty_message", "the last user message is empty");
  return {
    model: parsed.model,
    text: checked(text, path),
    instructions: instructionsOf(messages),
    user: parsed.user ?? undefined,
    stream: parsed.stream ?? false,
    includeUsage: parsed.stream_options?.include_usage ?? false,
    digest: digestOf(rawMessages(body)),
  };
}

function refuseUnsupported({ n, tools, functions, response_format }: Body): void {
  const refuse = (param: string, why: string): never => {
    throw badRequest(param, "unsupported_parameter", `${param}: ${why}`);
  };
  if (tools && tools.length > 0) refuse("tools", "the agent has its own tools; a client's are not supported");
  if (functions && functions.length > 0) refuse("functions", "a client's functions are not supported");
  if (n !== undefined && n !== null && n !== 1) refuse("n", "only one answer is given");
  if (response_format && response_format.type !== "text") {
    refuse("response_format", "only text is supported");
  }
}

function instructionsOf(messages: readonly Message[]): string | undefined {
  const texts = messages.flatMap((message, place) =>
    message.role === "system" || message.role === "developer" ? [textOf(message, place)] : [],
  );
  const joined = texts.filter((text) => text !== "").join("\n\n");
  return joined === "" ? undefined : checked(joined, "messages");
}

function textOf({ content }: Message, place: number): string {
  if (content === undefined || content === null) return "";
  if (typeof content === "string") return content;
  const texts = content.map((part, index) => {
    if (part.type === "text" && part.text !== undefined) return part.text;
    const param = `messages.${place}.content.${index}`;
    throw badRequest(param, "unsupported_content", "only text parts are supported");
  });
  return texts.join("\n");
}

function checked(text: string, path: string): string {
  if (!text.isWellFormed()) throw badRequest(path, "invalid_text", "expected well-formed Unicode");
  if (text.length > MAX_TEXT_LENGTH) {
    throw badRequest(path, "text_too_long", `expected at most ${MAX_TEXT_LENGTH} characters`);
  }
  return text;
}

/** @throws HttpProblem 400 for what is nested too deeply to be written down */
function digestOf(messages: unknown): string {
  let text: string;
  try {
    text = JSON.stringify(messages);
  } catch {
    // The only thing that can be wrong with what was JSON a moment ago: the stack is too small for it.
    throw badRequest("messages", "nested_too_deeply", "the messages are nested too deeply");
  }
  return createHash("sha256").update(text).digest("hex");
}

/** The messages as they were sent, with the fields that the schema does not know. */
function rawMessages(body: unknown): unknown {
  return typeof body === "object" && body !== null && "messages" in body ? body.messages : null;
}
