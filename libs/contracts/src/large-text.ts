import { z } from "zod";
import { digestOf } from "./turn-id.js";

/**
 * Texts too large for an entry or a message (K12): their beginning stays where the text would be, and the rest lies
 * in `blobs`, written before anything names it.
 *
 * L1 The whole is the beginning, and then the rest.
 * L2 A blob is named by its content: storing it again makes the same one, and a writer that was refused leaves
 *    nothing that could be taken for something else.
 * L3 A blob is cut into pieces that fit any message. Its name says how many, so that each is read by its own name.
 */
export const TextRest = z.object({
  /** Name of the blob, within the conversation and generation of what holds this. */
  blob: z.string().min(1),
  /** In UTF-16 units. */
  length: z.number().int().positive(),
  /** Rough size for a model. */
  tokens: z.number().int().nonnegative(),
});
export type TextRest = z.infer<typeof TextRest>;

/** Length of a piece in UTF-16 units: at most 300,000 bytes. */
const PIECE_LENGTH = 100_000;

export interface NamedPiece {
  /** Among all pieces of all conversations. */
  readonly name: string;
  readonly text: string;
}

/** Name of the text's blob within a generation of a conversation (L2, L3). */
export function blobNameOf(text: string): string {
  return `${digestOf(text).slice(0, 32)}-${Math.max(1, Math.ceil(text.length / PIECE_LENGTH))}`;
}

/** Names of a blob's pieces, in order; none when there can be no blob of that name (100 MB are the most). */
export function blobPieceNames(key: string, generation: number, blob: string): string[] {
  const count = Number(/^[0-9a-f]{32}-(\d{1,3})$/.exec(blob)?.[1] ?? 0);
  return Array.from({ length: count }, (_, n) => `${key}.${generation}.${blob}.${n}`);
}

/** The pieces of a text by their names, in order. */
export function blobPieces(names: readonly string[], text: string): NamedPiece[] {
  return names.map((name, n) => ({ name, text: pieceOf(text, n) }));
}

function pieceOf(text: string, n: number): string {
  return text.slice(wholeCharacter(text, n * PIECE_LENGTH), wholeCharacter(text, (n + 1) * PIECE_LENGTH));
}

/** The next place at or before this where no character of two units is parted. */
export function wholeCharacter(text: string, at: number): number {
  const before = text.charCodeAt(at - 1);
  return at > 0 && at < text.length && before >= 0xd800 && before < 0xdc00 ? at - 1 : at;
}
