import type { ServerResponse } from "node:http";
import type { Final } from "@troupe/contracts";
import { lookUpFinal, readEntry } from "@troupe/channel-kit";
import type { Gateway } from "../gateway.js";
import { HttpProblem } from "../problem.js";
import type { SessionRef } from "../session-access.js";
import { type TurnWatch, type WaitEnd, waitForFinal, watchTurn } from "../turn-wait.js";

/** Longest time that a completion may take; the turn itself goes on. */
const ANSWER_LIMIT_MS = 300_000;

/**
 * Waits for the final that answers a message: its own, or, when a running turn took the message in,
 * that turn's, because this protocol knows no answer that only points to another.
 *
 * @param known the final, when the message is a repeated one whose turn is done
 */
export async function waitForAnswer(
  gateway: Gateway,
  session: SessionRef,
  asked: { readonly watch: TurnWatch; readonly known: Final | null },
  response: ServerResponse,
): Promise<WaitEnd> {
  const endsAt = performance.now() + ANSWER_LIMIT_MS;
  let end: WaitEnd =
    asked.known === null
      ? await waitForFinal(gateway, asked.watch, response, ANSWER_LIMIT_MS)
      : { kind: "final", final: asked.known };
  while (end.kind === "final" && end.final.kind === "merged" && end.final.mergedInto !== null) {
    const left = Math.max(0, endsAt - performance.now());
    end = await waitForOther(gateway, session, end.final.mergedInto, { response, left });
  }
  return end;
}

async function waitForOther(
  gateway: Gateway,
  session: SessionRef,
  turn: string,
  { response, left }: { readonly response: ServerResponse; readonly left: number },
): Promise<WaitEnd> {
  const watch = watchTurn(gateway.outbox, session.key, turn);
  try {
    const stored = await gateway.sessions.readFresh(session.key);
    const read = stored === null ? null : readEntry(stored.text);
    const entry = read?.kind === "ok" ? read.entry : null;
    const final = await lookUpFinal(gateway, session, turn, entry);
    if (final !== null) return { kind: "final", final };
    return await waitForFinal(gateway, watch, response, left);
  } finally {
    watch.stop();
  }
}

/** What to tell a client whose wait ended without a final. */
export function waitProblem(kind: "timeout" | "gone" | "closing"): HttpProblem {
  switch (kind) {
    case "closing":
      return new HttpProblem(503, "stopping", "this gateway is stopping; the turn goes on", {
        retryAfterMs: 1_000,
      });
    case "gone":
      // Nobody reads it.
      return new HttpProblem(499, "client_closed", "the client closed the connection");
    case "timeout": {
      const why = "no answer within 300 seconds; the turn goes on, and the same request gets its answer";
      return new HttpProblem(504, "deadline", why);
    }
  }
}
