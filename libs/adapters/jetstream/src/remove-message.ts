import { z } from "zod";
import { readFromLeader } from "./stored-message.js";
import { textOf, type Wire } from "./wire.js";
import { ApiError } from "./wire-error.js";

const DeleteAnswer = z.object({
  error: z.object({ err_code: z.number(), description: z.string().default("") }).optional(),
});

/** Removes one message of a stream, overwriting what it said; whether it was there. */
export async function removeMessage(wire: Wire, stream: string, seq: number): Promise<boolean> {
  const reply = await wire.ask({ subject: `$JS.API.STREAM.MSG.DELETE.${stream}`, payload: JSON.stringify({ seq }) });
  const { error } = DeleteAnswer.parse(JSON.parse(textOf(reply)));
  if (error === undefined) return true;
  // The server has several refusals for what is not there; one of them is also that of a store that failed.
  if ((await readFromLeader(wire, stream, { seq })) === null) return false;
  throw new ApiError(error.err_code, stream, error.description);
}
