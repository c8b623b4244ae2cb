import { readFromLeader, readLast } from "./stored-message.js";
import { publishOnce } from "./stored-publish.js";
import { headersOf, type Wire } from "./wire.js";
import { ApiError } from "./wire-error.js";

const EXISTS: readonly number[] = [10_071, 10_164];

/** Texts of one stream, each under a subject of its own, named by what they hold and therefore never changed. */
export interface WrittenOnce {
  /** Create-only; one that exists is the same. */
  create(subject: string, text: string): Promise<void>;
  /** A replica may lag, the leader does not. */
  read(subject: string): Promise<string | undefined>;
}

/** Texts kept in memory, in UTF-16 units: they never change, and the newest ones are read again and again. */
const KEPT_LENGTH = 8 * 1024 * 1024;

export function writtenOnce(wire: Wire, stream: string): WrittenOnce {
  const kept = new KeptTexts(KEPT_LENGTH);
  return {
    create: async (subject, text) => {
      try {
        const headers = headersOf({ "Nats-Expected-Last-Subject-Sequence": "0" });
        await publishOnce(wire, { subject, body: text, headers });
      } catch (cause) {
        if (!(cause instanceof ApiError && EXISTS.includes(cause.code))) throw cause;
      }
    },
    read: async (subject) => {
      const known = kept.get(subject);
      if (known !== undefined) return known;
      const found =
        (await readLast(wire, stream, subject)) ?? (await readFromLeader(wire, stream, { last_by_subj: subject }));
      if (found === null) return undefined;
      kept.set(subject, found.text);
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
