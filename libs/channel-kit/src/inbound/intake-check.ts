import { MAX_TEXT_LENGTH } from "@troupe/contracts";
import { z } from "zod";
import type { HeardMessage } from "../channel.js";
import { IntakeRefusal } from "./intake-refusal.js";

const MAX_ID_LENGTH = 512;
const ID_LENGTH = `a message id has 1 to ${MAX_ID_LENGTH} characters`;
const HALF_PAIR = "the message holds half of a surrogate pair";

const textOf = (name: string) => z.string({ error: `${name} must be a text` });
const wellFormed = (text: string): boolean => text.isWellFormed();

const conversation = textOf("conversation");
const principal = textOf("principal").min(1, "principal must not be empty: it says whose message it is");

const Heard = z.object(
  {
    conversation,
    messageId: textOf("messageId").min(1, ID_LENGTH).max(MAX_ID_LENGTH, ID_LENGTH).refine(wellFormed, HALF_PAIR),
    text: textOf("text")
      .min(1, "the message is empty")
      .max(MAX_TEXT_LENGTH, `the message is over ${MAX_TEXT_LENGTH} characters`)
      .refine(wellFormed, HALF_PAIR),
    principal,
  },
  { error: "a message must be an object" },
);

const Control = z.object({
  conversation,
  kind: z.enum(["cancel", "reset"], { error: "kind must be cancel or reset" }),
  principal,
});

/**
 * What a channel hands to the intake, which no compiler has checked where its author writes JavaScript.
 *
 * @throws IntakeRefusal `invalid`
 */
export const checkHeard = (value: unknown): HeardMessage => check(Heard, value);

/** @throws IntakeRefusal `invalid` */
export const checkControl = (value: unknown): z.infer<typeof Control> => check(Control, value);

function check<T>(schema: z.ZodType<T>, value: unknown): T {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  throw new IntakeRefusal("invalid", read.error.issues[0]?.message ?? "this is no message");
}
