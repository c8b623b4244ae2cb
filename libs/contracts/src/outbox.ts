import { z } from "zod";
import { decode, type Decoded, Envelope } from "./envelope.js";
import { TextRest } from "./large-text.js";
import { sessionOfKey } from "./session-id.js";

/** What goes to people, in the shapes that the HTTP API shows them. */

export const ERROR_CODES = [
  "model_unavailable",
  "model_refused",
  "context_too_long",
  "empty_answer",
  "budget_exceeded",
  "turn_limit",
  "deadline",
  "internal",
] as const;
export const ErrorCode = z.enum(ERROR_CODES);
export type ErrorCode = z.infer<typeof ErrorCode>;

export const TurnError = z.object({ code: ErrorCode, retryable: z.boolean() });
export type TurnError = z.infer<typeof TurnError>;

/** The one answer to one accepted message; it carries the whole text and replaces any preview. */
export const Final = z.object({
  turn: z.string(),
  kind: z.enum(["answer", "error", "cancelled", "merged"]),
  text: z.string(),
  introduction: z.string().nullable(),
  /** Index of the log message that holds the text, or of the turn's last message when none does. */
  index: z.number().int().nonnegative(),
  at: z.iso.datetime({ precision: 3 }),
  error: TurnError.nullable(),
  mergedInto: z.string().nullable(),
});
export type Final = z.infer<typeof Final>;

export const Notice = z.object({
  turn: z.string().nullable(),
  level: z.enum(["info", "warn"]),
  text: z.string(),
});
export type Notice = z.infer<typeof Notice>;

export const OutboxMessage = z.discriminatedUnion("kind", [
  Envelope.extend({
    kind: z.literal("final"),
    session: z.string(),
    generation: z.number().int(),
    final: Final,
    /** Of a text too large for a message; `final` then holds its beginning. */
    rest: TextRest.optional(),
  }),
  Envelope.extend({ kind: z.literal("notice"), session: z.string(), generation: z.number().int(), notice: Notice }),
]);
export type OutboxMessage = z.infer<typeof OutboxMessage>;

/** Reads what lies in the outbox under a key: all who judge it judge alike. */
export function decodeReply(key: string, text: string): Decoded<OutboxMessage> {
  if (sessionOfKey(key) !== undefined) return decode(OutboxMessage, text);
  return { kind: "invalid", reason: "its subject names no conversation" };
}
