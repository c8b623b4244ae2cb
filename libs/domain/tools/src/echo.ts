import { z } from "zod";
import { defineTool } from "./tool.js";

/** Gives back what it was given: the smallest tool there is, good for trying things out. */
export const echo = defineTool({
  name: "echo",
  description: "Returns the given text unchanged.",
  input: z.strictObject({ text: z.string().describe("The text to return.") }),
  isIdempotent: true,
  timeoutMs: 1_000,
  run: (input) => Promise.resolve({ content: input.text, isError: false }),
});
