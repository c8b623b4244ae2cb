import { Notice, PreviewReset, ToolProgress } from "@troupe/contracts";
import { z } from "zod";
import { FinalAnswer } from "./gateway-answer.js";

const Delta = z.object({
  turn: z.string(),
  attempt: z.number(),
  step: z.number().default(1),
  seq: z.number(),
  text: z.string(),
});

const Task = z.object({
  turn: z.string(),
  taskIndex: z.number(),
  profile: z.string(),
  status: z.string(),
});

const Approval = z.object({
  id: z.string(),
  turn: z.string(),
  tool: z.string(),
  arguments: z.unknown(),
  explanation: z.string().nullable().default(null),
  status: z.string(),
});

const GatewayEvent = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("delta"), data: Delta }),
  z.object({ kind: z.literal("reset"), data: PreviewReset.extend({ reason: z.string() }) }),
  z.object({ kind: z.literal("tool"), data: ToolProgress.extend({ status: z.string() }) }),
  z.object({ kind: z.literal("task"), data: Task }),
  z.object({ kind: z.literal("approval"), data: Approval }),
  z.object({ kind: z.literal("notice"), data: Notice }),
  z.object({ kind: z.literal("final"), data: FinalAnswer }),
]);
export type GatewayEvent = z.infer<typeof GatewayEvent>;

/** The event in an SSE message, or undefined when it is of a kind or form that this client does not know. */
export function decodeEvent(kind: string | undefined, data: string): GatewayEvent | undefined {
  let json: unknown;
  try {
    json = JSON.parse(data);
  } catch {
    return undefined;
  }
  return GatewayEvent.safeParse({ kind, data: json }).data;
}
