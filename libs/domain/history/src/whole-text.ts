import type { LogMessage, TextRest } from "@troupe/contracts";

/** Gives the rest of a text too large for a state; undefined when it is not there any more. */
export type ReadRest = (rest: TextRest) => Promise<string | undefined>;

/** Stands where the rest of a text should: whoever reads it must see that something is missing. */
const LOST = " […]";

/** A text as it was said. Rejects when its rest cannot be read now. */
export async function wholeText(beginning: string, rest: TextRest | undefined, read: ReadRest): Promise<string> {
  return rest === undefined ? beginning : beginning + ((await read(rest)) ?? LOST);
}

/** The messages with their whole contents; those that have them already are the same objects. */
export function wholeMessages(messages: readonly LogMessage[], read: ReadRest): Promise<LogMessage[]> {
  return Promise.all(
    messages.map(async (message) => {
      const { rest, content, ...others } = message;
      if (rest === undefined) return message;
      const whole = await wholeText(content ?? "", rest, read);
      return others.role === "assistant" ? { ...others, content: whole } : { ...others, content: whole };
    }),
  );
}
