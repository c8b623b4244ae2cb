import { z } from "zod";

/** What a test consumer and the test say to each other. The consumer asks before each look is answered and each piece begun. */
export const FromConsumer = z.discriminatedUnion("say", [
  z.object({ say: z.literal("ready") }),
  z.object({ say: z.literal("look"), ask: z.number(), key: z.string(), due: z.string().nullable() }),
  z.object({ say: z.literal("work"), ask: z.number(), key: z.string(), piece: z.string() }),
  z.object({ say: z.literal("aborted"), key: z.string() }),
  z.object({ say: z.literal("event"), event: z.looseObject({ kind: z.string(), subject: z.string() }) }),
  z.object({ say: z.literal("drained") }),
]);
export type FromConsumer = z.infer<typeof FromConsumer>;

export const ToConsumer = z.discriminatedUnion("say", [
  z.object({ say: z.literal("go on"), ask: z.number() }),
  z.object({ say: z.literal("fail"), ask: z.number(), reason: z.string() }),
  z.object({ say: z.literal("drain"), graceMs: z.number() }),
]);
export type ToConsumer = z.infer<typeof ToConsumer>;
