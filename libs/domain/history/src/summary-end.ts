import type { SegmentRef } from "@troupe/contracts";
import { estimateTokens } from "./window.js";
import type { SealedLog } from "./sealed-log.js";

/** Share of the budget that the log beyond the summary may reach, and what of it stays verbatim then. */
const FULL = 0.75;
const KEPT = 0.4;

type Piece = Pick<SegmentRef, "from" | "to" | "tokens">;

/**
 * Up to which absolute index the next summary should reach, or null while there is room. Sealed
 * pieces are taken whole; of the tail, up to a user message.
 */
export function summaryEnd(
  log: Pick<SealedLog, "segments" | "from" | "tail">,
  upTo: number,
  budgetTokens: number,
): number | null {
  const pieces = piecesOf(log).filter((piece) => piece.to > upTo);
  if (pieces.reduce((sum, piece) => sum + piece.tokens, 0) <= budgetTokens * FULL) return null;
  let kept = 0;
  let end = log.from + log.tail.length;
  for (const piece of pieces.reverse()) {
    if (kept + piece.tokens > budgetTokens * KEPT) break;
    kept += piece.tokens;
    end = piece.from;
  }
  return end > upTo && end < log.from + log.tail.length ? end : null;
}

/** The log in pieces that a summary may end between: segments, then the turns of the tail. */
function piecesOf({ segments, from, tail }: Pick<SealedLog, "segments" | "from" | "tail">): Piece[] {
  const pieces: Piece[] = [...segments];
  let piece: Piece | undefined;
  for (const [place, message] of tail.entries()) {
    const index = from + place;
    if (piece !== undefined && message.role === "user") {
      pieces.push(piece);
      piece = undefined;
    }
    piece = { from: piece?.from ?? index, to: index + 1, tokens: (piece?.tokens ?? 0) + estimateTokens(message) };
  }
  return piece === undefined ? pieces : [...pieces, piece];
}
