import { z } from "zod";
import type { SendOutcome } from "../channel.js";

/** Fields say more about an outcome, and do not decide it: one that is not as it should be counts as absent. */
const reason = z.string().catch("no reason given");
const receipt = z.string().optional().catch(undefined);
const retryAfterMs = z.number().nonnegative().optional().catch(undefined);

const SaidOutcome = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("delivered"), receipt }),
  z.object({ kind: z.literal("not-sent"), reason, retryAfterMs }),
  z.object({ kind: z.literal("rejected"), reason }),
  z.object({ kind: z.literal("unknown"), reason }),
]);

/**
 * What a channel's `send` resolved to, which no compiler has checked where its author writes JavaScript. What is no
 * outcome says nothing of the reply: nobody can tell whether it is shown.
 */
export function saidOutcome(value: unknown): SendOutcome {
  const read = SaidOutcome.safeParse(value);
  if (!read.success) return { kind: "unknown", reason: "send did not resolve to an outcome" };
  const { data } = read;
  // An absent field is left out: a field that is there and undefined is no outcome to the compiler.
  switch (data.kind) {
    case "delivered":
      return { kind: data.kind, ...(data.receipt === undefined ? {} : { receipt: data.receipt }) };
    case "not-sent": {
      const { retryAfterMs: askedMs, ...rest } = data;
      return askedMs === undefined ? rest : { ...rest, retryAfterMs: askedMs };
    }
    default:
      return data;
  }
}
