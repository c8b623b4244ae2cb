import type { SegmentRef } from "@troupe/contracts";
import type { SealedLog } from "./sealed-log.js";
import { estimateTokens } from "./window.js";

/** Share of the budget that the log beyond the summary may reach, and what of it stays verbatim then. */
const FULL = 0.75;
const KEPT = 0.4;

type Piece = Pick<SegmentRef, "from" | "to" | "tokens" | "beginsTurn">;

/**
 * Up to which absolute index the next summary should reach, or null while there is room. It ends before a
 * user message, so that what follows it can be shown from there on; the newest turn is never in it.
 */
export function summaryEnd(
  log: Pick<SealedLog, "segments" | "from" | "tail">,
  upTo: number,
  budgetTokens: number,
): number | null {
  const pieces = piecesOf(log).filter((piece) => piece.to > upTo);
  if (pieces.reduce((sum, piece) => sum + piece.tokens, 0) <= budgetTokens * FULL) return null;
  let kept = 0;
  let end: number | null = null;
  for (const piece of pieces.reverse()) {
    kept += piece.tokens;
    if (end !== null && kept > budgetTokens * KEPT) break;
    if (piece.beginsTurn) end = piece.from;
  }
  return end !== null && end > upTo ? end : null;
}

/** The log in pieces: segments, then the tail parted before each user message. */
function piecesOf({ segments, from, tail }: Pick<SealedLog, "segments" | "from" | "tail">): Piece[] {
  const pieces: Piece[] = [...segments];
  for (const [place, message] of tail.entries()) {
    const index = from + place;
    const tokens = estimateTokens(message);
    const last = place === 0 || message.role === "user" ? undefined : pieces.pop();
    pieces.push({
      from: last?.from ?? index,
      to: index + 1,
      tokens: (last?.tokens ?? 0) + tokens,
      beginsTurn: last?.beginsTurn ?? message.role === "user",
    });
  }
  return pieces;
}
