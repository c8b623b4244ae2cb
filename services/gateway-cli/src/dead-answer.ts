import { z } from "zod";

/*
 * What a gateway says of dead letters, as far as this client reads it; a newer one may know kinds and outcomes of its own.
 */

const Item = z.looseObject({
  id: z.string(),
  kind: z.string().nullable(),
  session: z.string().nullable(),
  at: z.string(),
  reason: z.string(),
  retryable: z.boolean(),
});
export type DeadItem = z.infer<typeof Item>;

export const DeadPage = z.object({ dead: z.array(Item), next: z.string().nullable(), total: z.number() });
export type DeadPage = z.infer<typeof DeadPage>;

export const DeadLetterAnswer = Item.extend({
  subject: z.string().nullable(),
  seq: z.number().nullable(),
  refusal: z.string().nullable(),
  truncated: z.boolean(),
  body: z.string(),
});
export type DeadLetterAnswer = z.infer<typeof DeadLetterAnswer>;

export const Retried = z.object({
  session: z.string().nullable(),
  outcome: z.string(),
  turn: z.string().nullable(),
  duplicate: z.boolean(),
});
export type Retried = z.infer<typeof Retried>;
