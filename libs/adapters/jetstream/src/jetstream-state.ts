import { z } from "zod";
import { textOf, type Wire } from "./wire.js";
import { WireError } from "./wire-error.js";

/** `unclear`: the server is still starting, or has no leader yet. */
export type JetStreamState = "on" | "off" | "unclear";

const Answer = z.object({ error: z.object({ err_code: z.number() }).optional() });
const NOT_ENABLED = 10076;
const NOT_ENABLED_FOR_ACCOUNT = 10039;
const ASK_MS = 2_000;

/** Whether this account may use JetStream. */
export async function jetStreamState(wire: Wire): Promise<JetStreamState> {
  try {
    const reply = await wire.ask({ subject: "$JS.API.INFO", payload: "" }, ASK_MS);
    const { error } = Answer.parse(JSON.parse(textOf(reply)));
    if (error === undefined) return "on";
    const off = error.err_code === NOT_ENABLED || error.err_code === NOT_ENABLED_FOR_ACCOUNT;
    return off ? "off" : "unclear";
  } catch (cause) {
    if (!(cause instanceof WireError)) throw cause;
    // Without permission for that question we learn nothing; what is missing shows at first use.
    if (cause.kind === "forbidden") return "on";
    return cause.kind === "no-responders" && wire.nc.info?.jetstream !== true ? "off" : "unclear";
  }
}
