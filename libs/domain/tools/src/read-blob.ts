import { z } from "zod";
import { excerptOf } from "./excerpt.js";
import { MAX_RESULT_LENGTH } from "./tool-result.js";
import { defineTool } from "./tool.js";

/** Reads on in a tool result that was too long to be shown whole. */
export const readBlob = defineTool({
  name: "read_blob",
  description: "Reads on in a tool result that was cut because of its length.",
  input: z.strictObject({
    blob: z.string().describe("The blob that the cut result names."),
    offset: z.number().int().nonnegative().default(0).describe("Where to read on."),
  }),
  isIdempotent: true,
  timeoutMs: 10_000,
  run: async ({ blob, offset }, world) => {
    const whole = await world.readBlob(blob);
    if (whole === undefined) return { content: `There is no blob "${blob}" in this conversation.`, isError: true };
    const { text, next } = excerptOf(whole, Math.min(offset, whole.length), MAX_RESULT_LENGTH - READ_ON_LENGTH);
    if (next >= whole.length) return { content: text, isError: false };
    return {
      content: `${text}\n[Characters ${offset} to ${next} of ${whole.length}; read on at offset ${next}.]`,
      isError: false,
    };
  },
});

/** Room for the line that says where to read on. */
const READ_ON_LENGTH = 200;
