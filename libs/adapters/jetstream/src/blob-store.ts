import { blobNameOf, blobPieceNames, blobPieces, BLOBS, type SessionKey } from "@troupe/contracts";
import type { BlobOutcome } from "@troupe/kernel";
import { type Bus, wireOf } from "./bus.js";
import { isFull, StreamFull } from "./stream-full.js";
import { writtenOnce } from "./written-once.js";

/** Where a blob belongs: what one conversation or generation has stored cannot be read in another. */
export interface BlobPlace {
  readonly key: SessionKey;
  readonly generation: number;
}

/**
 * Large content of conversations, in the stream of the object store.
 *
 * B1 A blob lies in pieces that fit any message, each under a subject that begins with the conversation and its
 *    generation: so they are found and removed by a subject filter. The names that clients of object stores make are
 *    encoded as a whole, and cannot be.
 * B2 A blob is named by its content (L2): two that store it at the same time store the same.
 */
export interface BlobStore {
  /** Stores a piece under its own name; one that exists is the same. Only a refusal of the server's says `full`. */
  create(pieceName: string, text: string): Promise<BlobOutcome>;
  /** Stores a text; resolves to the name of its blob. Rejects when there is no room, or when that is not known. */
  put(place: BlobPlace, text: string): Promise<string>;
  /** Undefined when there is none of that name, or when not all of it is there. */
  get(place: BlobPlace, blob: string): Promise<string | undefined>;
}

export const BLOB_STREAM = `OBJ_${BLOBS}`;
export const blobSubject = (pieceName: string): string => `$O.${BLOBS}.C.${pieceName}`;

export function blobStore(bus: Bus): BlobStore {
  const store = writtenOnce(wireOf(bus), BLOB_STREAM);
  const create = async (pieceName: string, text: string): Promise<BlobOutcome> => {
    try {
      await store.create(blobSubject(pieceName), text);
      return { kind: "stored" };
    } catch (cause) {
      if (!isFull(cause)) throw cause;
      return { kind: "full", reason: new StreamFull(BLOBS).message };
    }
  };
  return {
    create,
    put: async ({ key, generation }, text) => {
      const blob = blobNameOf(text);
      const pieces = blobPieces(blobPieceNames(key, generation, blob), text);
      if (pieces.length === 0) throw new RangeError(`a text of ${text.length} characters is too long for a blob`);
      const outcomes = await Promise.all(pieces.map((piece) => create(piece.name, piece.text)));
      const full = outcomes.find((outcome) => outcome.kind === "full");
      if (full) throw new StreamFull(BLOBS);
      return blob;
    },
    get: async ({ key, generation }, blob) => {
      const [first, ...others] = blobPieceNames(key, generation, blob);
      // A name may be made up: only of a blob that is there all pieces are asked for.
      const beginning = first === undefined ? undefined : await store.read(blobSubject(first));
      if (beginning === undefined) return undefined;
      const rest = await Promise.all(others.map((name) => store.read(blobSubject(name))));
      return rest.includes(undefined) ? undefined : [beginning, ...rest].join("");
    },
  };
}
