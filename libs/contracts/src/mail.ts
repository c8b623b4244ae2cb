import { z } from "zod";
import { Envelope } from "./envelope.js";
import type { Origin } from "./subject.js";

/** Mail to a session actor. Each kind names the origins it is accepted from. */

/** Text a person may send in one message, in UTF-16 units; the HTTP body limit (1 MiB) is the harder one. */
export const MAX_TEXT_LENGTH = 1_000_000;

const Turn = z.string().regex(/^t_[0-9a-z]+$/);

export const UserMessage = Envelope.extend({
  kind: z.literal("user"),
  /** The turn this message will be answered in, derived from session and client id (`turnIdOf`). */
  turn: Turn,
  /** The client's own id of the message; what inbound deduplication is about. */
  messageId: z.string().min(1).max(512),
  /** SHA-256 of the content, hex: the same id with another digest is a conflict. */
  digest: z.string().regex(/^[0-9a-f]{64}$/),
  text: z.string().min(1).max(MAX_TEXT_LENGTH),
  principal: z.string().min(1),
  /** Extra system instruction for this turn alone. */
  instructions: z.string().max(MAX_TEXT_LENGTH).optional(),
  /** Whether the first answer may carry the agent's introduction; programs that ask want the answer alone. */
  introduce: z.boolean().optional(),
  trace: z.string().optional(),
});
export type UserMessage = z.infer<typeof UserMessage>;

export const Cancel = Envelope.extend({ kind: z.literal("cancel"), principal: z.string().min(1) });
export const Reset = Envelope.extend({ kind: z.literal("reset"), principal: z.string().min(1) });
/** A reset after which the session counts as unknown until somebody writes to it again. */
export const Erase = Envelope.extend({ kind: z.literal("erase"), principal: z.string().min(1) });

export const SessionMail = z.discriminatedUnion("kind", [UserMessage, Cancel, Reset, Erase]);
export type SessionMail = z.infer<typeof SessionMail>;
export type SessionMailKind = SessionMail["kind"];

/** From any other origin a kind is dead-lettered. */
export const ACCEPTED_ORIGINS: Readonly<Record<SessionMailKind, readonly Origin[]>> = {
  user: ["in", "ops"],
  cancel: ["in", "ops"],
  reset: ["in", "ops"],
  erase: ["in", "ops"],
};
