import { decode, type Final, OutboxMessage, type SessionEntry } from "@troupe/contracts";
import type { OutboxEvent, OutboxFeed } from "@troupe/jetstream";
import type { SessionRef } from "./session-access.js";
import { isoTime } from "./session-view.js";

/** What a session's state says about one turn's final. */
export type FinalInState =
  | { readonly kind: "final"; readonly final: Final }
  /** The turn is known and not done. */
  | { readonly kind: "open" }
  /** The state does not know the turn, or no longer holds its text. */
  | { readonly kind: "unknown" };

export function finalInState({ fields }: SessionEntry, turn: string): FinalInState {
  const waits = (message: { readonly turn: string }): boolean => message.turn === turn;
  if (fields.turn?.id === turn || fields.queued.some(waits) || fields.steered.some(waits)) {
    return { kind: "open" };
  }
  const recent = fields.recent.find((known) => known.turn === turn);
  if (recent === undefined) return { kind: "unknown" };
  if (recent.final === null) return { kind: "open" };
  const { at, generation, ...final } = recent.final;
  // After a reset the log's indexes count anew: the same index is another message there.
  const logged = generation === fields.generation ? loggedText(fields.log, final.index) : undefined;
  const text = final.text ?? logged;
  if (text === undefined) return { kind: "unknown" };
  return { kind: "final", final: { ...final, turn, text, at: isoTime(at) } };
}

function loggedText(log: SessionEntry["fields"]["log"], index: number): string | undefined {
  return log.tail[index - log.from]?.content ?? undefined;
}

/** The final in an event of the outbox, when it is one of this turn. */
export function finalOfTurn(event: OutboxEvent, turn: string): Final | undefined {
  // Most events of a busy conversation are of other turns: looking for the id is cheaper than parsing.
  if (!event.text.includes(turn)) return undefined;
  const decoded = decode(OutboxMessage, event.text);
  if (decoded.kind !== "ok" || decoded.message.kind !== "final") return undefined;
  return decoded.message.final.turn === turn ? decoded.message.final : undefined;
}

/** The final of a turn that may be done: from the state, else from what the outbox still keeps. */
export async function lookUpFinal(
  outbox: OutboxFeed,
  session: SessionRef,
  turn: string,
  entry: SessionEntry | null,
): Promise<Final | null> {
  const known = entry === null ? ({ kind: "unknown" } as const) : finalInState(entry, turn);
  if (known.kind === "final") return known.final;
  if (known.kind === "open") return null;
  const events = await outbox.replay(session.key, 0);
  for (const event of events) {
    const final = finalOfTurn(event, turn);
    if (final !== undefined) return final;
  }
  return null;
}
