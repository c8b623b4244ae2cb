import { z } from "zod";
import { textOf, type Wire } from "./wire.js";
import { ApiError } from "./wire-error.js";

const Answer = z.union([
  z.object({ error: z.object({ err_code: z.number(), description: z.string().default("") }) }),
  z.object({ purged: z.number().default(0) }),
]);

/** Removes the messages of a stream whose subjects the filter selects; resolves to their number. */
export async function purge(wire: Wire, stream: string, filter: string): Promise<number> {
  const reply = await wire.ask({ subject: `$JS.API.STREAM.PURGE.${stream}`, payload: JSON.stringify({ filter }) });
  const answer = Answer.parse(JSON.parse(textOf(reply)));
  if ("error" in answer) throw new ApiError(answer.error.err_code, stream, answer.error.description);
  return answer.purged;
}
