import type { MailItem } from "./ports.js";

/**
 * Whose mail a process has heard ring: facts about the log that need no read.
 *
 * K2 Mail is handled in the order of its log. Where every place between a cursor and a bell is known
 *    to be another log's, or to be in hand, a read would find nothing more and is spared. A place that was
 *    never heard of, or whose bell was given back, makes a read necessary.
 * K1 What was heard of one log says nothing about the one that replaced it.
 */
const MOST = 4_096;
/** Places looked at before a read is cheaper. */
const LONGEST_GAP = 1_024;

export class HeardMail {
  readonly #places = new Map<number, string>();
  #log = "";

  /** A bell rang here. */
  note(key: string, { origin, seq }: MailItem): void {
    this.#places.set(seq, nameOf(key, origin));
    const oldest = this.#places.keys().next();
    if (this.#places.size > MOST && !oldest.done) this.#places.delete(oldest.value);
  }

  /** Whether all mail of this origin behind a cursor and up to a bell is in hand. */
  isAll(log: string, { after, upTo, isInHand, ...whose }: Gap): boolean {
    if (log !== this.#log) {
      this.#log = log;
      this.#places.clear();
    }
    if (upTo - after > LONGEST_GAP) return false;
    const own = nameOf(whose.key, whose.origin);
    for (let seq = after + 1; seq <= upTo; seq++) {
      const name = this.#places.get(seq);
      if (name === undefined || (name === own && !isInHand(seq))) return false;
    }
    return true;
  }
}

export interface Gap extends Pick<MailItem, "origin"> {
  readonly key: string;
  readonly after: number;
  readonly upTo: number;
  readonly isInHand: (seq: number) => boolean;
}

const nameOf = (key: string, origin: MailItem["origin"]): string => `${origin} ${key}`;
