import { Final, TurnError } from "@troupe/contracts";
import { z } from "zod";

/*
 * What a gateway answers, as far as this client reads it. Looser than the contract where a newer gateway may know
 * more: an answer with an error code of tomorrow is still an answer.
 */

export const FinalAnswer = Final.extend({
  at: z.string(),
  error: TurnError.extend({ code: z.string() }).nullable(),
});
export type FinalAnswer = z.infer<typeof FinalAnswer>;

export const Accepted = z.object({
  session: z.string(),
  turn: z.string(),
  duplicate: z.boolean(),
  status: z.string(),
  final: FinalAnswer.nullable().default(null),
  waitingFor: z.array(z.object({ kind: z.string(), id: z.string().nullable().default(null) })).default([]),
});
export type Accepted = z.infer<typeof Accepted>;

export const Cancelled = z.object({ turn: z.string().nullable(), cancelled: z.boolean() });
export type Cancelled = z.infer<typeof Cancelled>;

export const WasReset = z.object({ generation: z.number() });

export const SessionState = z.object({
  session: z.string(),
  messageCount: z.number(),
  turn: z.object({ id: z.string(), status: z.string() }).nullable(),
});
export type SessionState = z.infer<typeof SessionState>;

const SessionSummary = z.looseObject({
  session: z.string(),
  messageCount: z.number(),
  updatedAt: z.string(),
  turn: z.union([z.null(), z.string(), z.looseObject({ id: z.string().optional(), status: z.string().optional() })]),
});
export type SessionSummary = z.infer<typeof SessionSummary>;

export const SessionPage = z.object({ sessions: z.array(SessionSummary), next: z.string().nullable() });
export type SessionPage = z.infer<typeof SessionPage>;

const Message = z.discriminatedUnion("role", [
  z.object({ role: z.literal("user"), index: z.number(), turn: z.string(), content: z.string() }),
  z.object({
    role: z.literal("assistant"),
    index: z.number(),
    turn: z.string(),
    content: z.string().nullable(),
    tool_calls: z.array(z.object({ id: z.string(), function: z.object({ name: z.string() }) })).nullish(),
  }),
  z.object({
    role: z.literal("tool"),
    index: z.number(),
    turn: z.string(),
    tool_call_id: z.string(),
    isError: z.boolean().nullish(),
  }),
]);
export type Message = z.infer<typeof Message>;

export const MessagePage = z.object({ total: z.number(), messages: z.array(Message) });
export type MessagePage = z.infer<typeof MessagePage>;

/** RFC 9457; every field may be missing, because a proxy on the way may answer as well. */
export const Problem = z
  .object({
    title: z.string(),
    detail: z.string(),
    errors: z.array(z.object({ path: z.string(), message: z.string() })),
  })
  .partial();
