import { BUCKET } from "@troupe/contracts";
import { bucketStream, entrySubject } from "./bucket.js";
import { type Bus, wireOf } from "./bus.js";
import { isConflict } from "./compare-and-set.js";
import { readFromLeader, readLast } from "./stored-message.js";
import { publishOnce } from "./stored-publish.js";
import { headersOf } from "./wire.js";

/** Sealed pieces of histories: written once, never changed. */
export interface SegmentStore {
  /** Create-only; one that exists is the same, because its name holds its digest. */
  create(name: string, text: string): Promise<void>;
  /** Rejects when there is none. A replica may lag, the leader does not. */
  read(name: string): Promise<string>;
}

const STREAM = bucketStream(BUCKET.segments);

/** Segments kept in memory, in UTF-16 units: they never change, and the newest ones are read again and again. */
const KEPT_LENGTH = 8 * 1024 * 1024;

export function segmentStore(bus: Bus): SegmentStore {
  const wire = wireOf(bus);
  const kept = new KeptTexts(KEPT_LENGTH);
  return {
    create: async (name, text) => {
      try {
        const headers = headersOf({ "Nats-Expected-Last-Subject-Sequence": "0" });
        await publishOnce(wire, { subject: entrySubject(BUCKET.segments, name), body: text, headers });
      } catch (cause) {
        if (!isConflict(cause)) throw cause;
      }
    },
    read: async (name) => {
      const known = kept.get(name);
      if (known !== undefined) return known;
      const subject = entrySubject(BUCKET.segments, name);
      const found =
        (await readLast(wire, STREAM, subject)) ?? (await readFromLeader(wire, STREAM, { last_by_subj: subject }));
      if (found === null) throw new Error(`segment ${name} is named by a state and is not there`);
      kept.set(name, found.text);
      return found.text;
    },
  };
}

/** The texts used last, up to a length in all. */
class KeptTexts {
  readonly #texts = new Map<string, string>();
  readonly #most: number;
  #length = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get(name: string): string | undefined {
    const text = this.#texts.get(name);
    if (text === undefined) return undefined;
    this.#texts.delete(name);
    this.#texts.set(name, text);
    return text;
  }

  set(name: string, text: string): void {
    if (this.#texts.has(name)) return;
    this.#texts.set(name, text);
    this.#length += text.length;
    for (const [oldest, { length }] of this.#texts) {
      if (this.#length <= this.#most) return;
      this.#texts.delete(oldest);
      this.#length -= length;
    }
  }
}
