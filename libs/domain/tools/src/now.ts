import { z } from "zod";
import { defineTool } from "./tool.js";

/** The present date and time. */
export const now = defineTool({
  name: "now",
  description: "Tells the present date and time, in UTC, as ISO 8601.",
  input: z.strictObject({}),
  isIdempotent: true,
  timeoutMs: 1_000,
  run: (_input, world) => Promise.resolve({ content: new Date(world.now).toISOString(), isError: false }),
});
