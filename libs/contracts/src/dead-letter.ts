import { z } from "zod";
import { Envelope } from "./envelope.js";

/** Something that was given up on, whole, with the reason: an operator may look at it and retry it. */
export const DeadLetter = Envelope.extend({
  kind: z.enum(["mail", "task", "job"]),
  /** The subject it came by, and its sequence there. */
  subject: z.string(),
  seq: z.number().int().nonnegative(),
  reason: z.string(),
  /** The body as it was, text. */
  body: z.string(),
});
export type DeadLetter = z.infer<typeof DeadLetter>;
