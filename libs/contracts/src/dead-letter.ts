import { z } from "zod";
import { Envelope } from "./envelope.js";
import { DEAD_KINDS } from "./subject.js";

/** Something that was given up on, with the reason: an operator may look at it, retry it or drop it. */
export const DeadLetter = Envelope.extend({
  kind: z.enum(DEAD_KINDS),
  /** The subject it came by, and its sequence there. */
  subject: z.string(),
  seq: z.number().int().nonnegative(),
  reason: z.string(),
  /** The body as it was, text. */
  body: z.string(),
  /** Set when only the beginning of a large body was kept: it cannot be retried. */
  truncated: z.literal(true).optional(),
});
export type DeadLetter = z.infer<typeof DeadLetter>;
