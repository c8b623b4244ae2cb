import { z } from "zod";
import { Envelope } from "./envelope.js";

/**
 * Live events: previews over core NATS. They may be lost or doubled and are never evidence of anything.
 * `epoch` is the lease's: a receiver ignores events of an epoch lower than one it has seen for the turn (K5).
 */
export const Delta = z.object({
  turn: z.string(),
  attempt: z.number().int().positive(),
  /** Counts the model calls of the turn: text of an earlier step belongs to a message of its own. */
  step: z.number().int().positive(),
  /** Counts the deltas of the attempt, without gaps. */
  seq: z.number().int().nonnegative(),
  text: z.string(),
});
export const PreviewReset = z.object({
  turn: z.string(),
  attempt: z.number().int().positive(),
  reason: z.enum(["recovered", "reasoning", "fallback"]),
});
export const ToolProgress = z.object({
  turn: z.string(),
  /** Of the deltas before it, in the count of `seq`: who has all of them knows that nothing was taken back since. */
  attempt: z.number().int().positive().optional(),
  seq: z.number().int().nonnegative().optional(),
  callId: z.string(),
  name: z.string(),
  status: z.enum(["started", "done", "error", "denied", "unknown"]),
  summary: z.string(),
});

const Live = Envelope.extend({ epoch: z.number().int().nonnegative() });

export const LiveEvent = z.discriminatedUnion("kind", [
  Live.extend({ kind: z.literal("delta"), data: Delta }),
  Live.extend({ kind: z.literal("reset"), data: PreviewReset }),
  Live.extend({ kind: z.literal("tool"), data: ToolProgress }),
]);
export type LiveEvent = z.infer<typeof LiveEvent>;
