import { z } from "zod";

/*
 * What OpenAI-compatible servers send, read leniently: fields are often null, missing or of another
 * vendor's make. Fields not listed are dropped here, and that includes every reasoning field
 * (`reasoning_content`, `reasoning`, `thinking`, …): what is never read cannot be shown.
 */

const argumentsField = z.union([z.string(), z.record(z.string(), z.unknown())]);

const callDelta = z.object({
  index: z.number().nullish(),
  id: z.union([z.string(), z.number()]).nullish(),
  function: z.object({ name: z.string().nullish(), arguments: argumentsField.nullish() }).nullish(),
});

// Some vendors send content as typed parts, with the reasoning as one of them.
const contentPart = z.object({ type: z.string().nullish(), text: z.string().nullish() });

const piece = z.object({
  content: z.union([z.string(), z.array(contentPart)]).nullish(),
  refusal: z.string().nullish(),
  tool_calls: z.array(callDelta).nullish(),
});

const choice = z.object({
  index: z.number().nullish(),
  delta: piece.nullish(),
  message: piece.nullish(),
  finish_reason: z.string().nullish(),
  error: z.unknown().optional(),
});

const count = z.number().nonnegative().nullish();

const usage = z.object({
  prompt_tokens: count,
  completion_tokens: count,
  input_tokens: count,
  output_tokens: count,
});

/** One streamed chunk, or a whole answer (which has `message` where a chunk has `delta`). */
export const chunkSchema = z.object({
  model: z.string().nullish(),
  choices: z.array(choice).nullish(),
  // Odd numbers must not cost the answer: they count as not said.
  usage: usage.nullish().catch(undefined),
});

export type Chunk = z.infer<typeof chunkSchema>;
export type ChunkPiece = z.infer<typeof piece>;
export type CallDelta = z.infer<typeof callDelta>;

/** The text for the person in a piece; parts of any type but text are reasoning or media. */
export function textOf(content: ChunkPiece["content"]): string {
  if (typeof content === "string") return content;
  return (content ?? [])
    .filter((part) => part.type === "text" || part.type === "output_text")
    .map((part) => part.text ?? "")
    .join("");
}
