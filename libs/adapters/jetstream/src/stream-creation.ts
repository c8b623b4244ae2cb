import { z } from "zod";
import { textOf, type Wire } from "./wire.js";
import { ApiError } from "./wire-error.js";

const Info = z.union([
  z.object({ error: z.object({ err_code: z.number(), description: z.string().default("") }) }),
  z.object({ created: z.string() }),
]);

/**
 * When the stream was created, which names it: a recreated one counts from 1 again (K1). Kept until
 * the connection or a consumer of ours is lost, for behind that the stream may be another one.
 */
export function streamCreation(wire: Wire, stream: string): () => Promise<string> {
  let known: { readonly generation: number; readonly created: Promise<string> } | undefined;
  return () => {
    if (known?.generation === wire.generation && wire.up) return known.created;
    const asked = { generation: wire.generation, created: ask(wire, stream) };
    known = asked;
    asked.created.catch(() => {
      if (known === asked) known = undefined;
    });
    return asked.created;
  };
}

async function ask(wire: Wire, stream: string): Promise<string> {
  const info = Info.parse(
    JSON.parse(textOf(await wire.ask({ subject: `$JS.API.STREAM.INFO.${stream}`, payload: "" }))),
  );
  if ("error" in info) throw new ApiError(info.error.err_code, stream, info.error.description);
  return info.created;
}
