import { Final } from "@troupe/contracts";
import { z } from "zod";

/** Answers of the HTTP API, in the parts that the tests look at. */
export const Posted = z.object({
  session: z.string(),
  turn: z.string(),
  duplicate: z.boolean(),
  status: z.enum(["queued", "done", "waiting"]),
  final: Final.optional(),
});
export type Posted = z.infer<typeof Posted>;

export const SessionView = z.object({
  session: z.string(),
  generation: z.number(),
  messageCount: z.number(),
  queued: z.number(),
  lease: z.object({ owner: z.string(), until: z.iso.datetime() }).nullable(),
  turn: z.object({ id: z.string(), status: z.string(), steps: z.number() }).nullable(),
});
export type SessionView = z.infer<typeof SessionView>;

const Call = z.object({
  id: z.string(),
  type: z.literal("function"),
  function: z.object({ name: z.string(), arguments: z.string() }),
});

const head = { index: z.number(), turn: z.string(), at: z.iso.datetime({ precision: 3 }) };

export const HistoryMessage = z.discriminatedUnion("role", [
  z.object({ ...head, role: z.literal("user"), content: z.string() }),
  z.object({
    ...head,
    role: z.literal("assistant"),
    content: z.string().nullable(),
    tool_calls: z.array(Call).optional(),
  }),
  z.object({ ...head, role: z.literal("tool"), tool_call_id: z.string(), content: z.string(), isError: z.boolean() }),
]);
export type HistoryMessage = z.infer<typeof HistoryMessage>;

export const History = z.object({
  generation: z.number(),
  total: z.number(),
  next: z.number().nullable(),
  messages: z.array(HistoryMessage),
});
export type History = z.infer<typeof History>;

export const Problem = z.object({ status: z.number(), code: z.string(), detail: z.string() });
