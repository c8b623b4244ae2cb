import { decode, type Final, OutboxMessage, type SessionEntry, type SessionKey } from "@troupe/contracts";
import { messagesBetween, wholeText } from "@troupe/history";
import type { BlobStore, OutboxEvent, OutboxFeed, SegmentStore } from "@troupe/jetstream";

/** What a session's state says about one turn's final. */
export type FinalInState =
  | { readonly kind: "final"; readonly final: Final }
  /** It is an answer whose text does not lie in the state: in a sealed piece of the log, or in a blob. */
  | { readonly kind: "sealed"; readonly final: Omit<Final, "text"> }
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
  const { at, generation, text: kept, ...rest } = recent.final;
  const final = { ...rest, turn, at: new Date(at).toISOString() };
  if (kept !== null) return { kind: "final", final: { ...final, text: kept } };
  // After a reset the log's indexes count anew: the same index is another message there.
  if (generation !== fields.generation) return { kind: "unknown" };
  const { log } = fields;
  const message = log.tail[final.index - log.from];
  if (final.index < log.from || message?.rest !== undefined) return { kind: "sealed", final };
  const text = message?.content ?? undefined;
  return text === undefined ? { kind: "unknown" } : { kind: "final", final: { ...final, text } };
}

/** The final in an event of the outbox, when it is one of this turn. */
export function finalOfTurn(event: OutboxEvent, turn: string): Final | undefined {
  return finalMessage(event, turn)?.final;
}

function finalMessage(event: OutboxEvent, turn: string) {
  // Most events of a busy conversation are of other turns: looking for the id is cheaper than parsing.
  if (!event.text.includes(turn)) return undefined;
  const decoded = decode(OutboxMessage, event.text);
  if (decoded.kind !== "ok" || decoded.message.kind !== "final") return undefined;
  return decoded.message.final.turn === turn ? decoded.message : undefined;
}

export interface FinalSources {
  readonly outbox: Pick<OutboxFeed, "replay" | "whole">;
  readonly segments: Pick<SegmentStore, "read">;
  readonly blobs: Pick<BlobStore, "get">;
}

/** The final of a turn that may be done: from the state and its log, else from what the outbox still keeps. */
export async function lookUpFinal(
  { outbox, segments, blobs }: FinalSources,
  session: { readonly key: SessionKey },
  turn: string,
  entry: SessionEntry | null,
): Promise<Final | null> {
  const known = entry === null ? ({ kind: "unknown" } as const) : finalInState(entry, turn);
  if (known.kind === "final") return known.final;
  if (known.kind === "open") return null;
  if (known.kind === "sealed" && entry !== null) {
    const text = await sealedText({ segments, blobs }, session.key, entry, known.final.index);
    if (text !== undefined) return { ...known.final, text };
  }
  // What was said before a session was erased is nobody's answer any more, though an event of it may be left.
  const since = entry?.fields.erased ? entry.fields.generation : 0;
  for (const event of await outbox.replay(session.key, 0)) {
    const message = finalMessage(event, turn);
    if (message === undefined || message.generation < since) continue;
    return finalOfTurn(await outbox.whole(event), turn) ?? message.final;
  }
  return null;
}

async function sealedText(
  { segments, blobs }: Pick<FinalSources, "segments" | "blobs">,
  key: SessionKey,
  { fields: { log, generation } }: SessionEntry,
  index: number,
): Promise<string | undefined> {
  const [message] = await messagesBetween({ ...log, key, generation }, { from: index, to: index + 1 }, segments.read);
  if (message === undefined || message.content === null) return undefined;
  return wholeText(message.content, message.rest, ({ blob }) => blobs.get({ key, generation }, blob));
}
