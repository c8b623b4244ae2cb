import type { ConversationEvent } from "./conversation-event.js";

/** How many turns' epochs are remembered: a conversation has one turn at a time, the rest is late news. */
const MAX_TURNS = 64;

/**
 * Puts the events of one conversation into the order in which one reader gets them.
 *
 * S1 Durable events come once and in the order of their sequence, whether replayed or live.
 * S2 What arrives during the replay waits for its end.
 * S3 A live event of an epoch below the highest seen for its turn is dropped (K5), and so is one that
 *    comes after the turn's final: a preview must not follow what replaces it.
 */
export class EventSequence {
  readonly #emit: (event: ConversationEvent) => void;
  readonly #epochs = new Map<string, number>();
  #held: ConversationEvent[] | null;
  #heldLength = 0;
  #last: number;

  /**
   * @param after the last durable event that the reader has had
   * @param replaying whether older events are still to be given to {@link replayed}
   */
  constructor(emit: (event: ConversationEvent) => void, after: number, replaying: boolean) {
    this.#emit = emit;
    this.#last = after;
    this.#held = replaying ? [] : null;
  }

  /** Characters that wait for the replay's end. */
  get heldLength(): number {
    return this.#heldLength;
  }

  /** An event that has just happened. @param length of its text, in UTF-16 units */
  arrived(event: ConversationEvent | undefined, length: number): void {
    if (event === undefined) return;
    if (this.#held === null) {
      this.#pass(event);
    } else {
      this.#held.push(event);
      this.#heldLength += length;
    }
  }

  /** A stored event, in order. */
  replayed(event: ConversationEvent | undefined): void {
    if (event !== undefined) this.#pass(event);
  }

  replayEnded(): void {
    const held = this.#held ?? [];
    this.#held = null;
    this.#heldLength = 0;
    for (const event of held) this.#pass(event);
  }

  #pass(event: ConversationEvent): void {
    if (event.kind === "durable") {
      if (event.seq <= this.#last) return;
      this.#last = event.seq;
      if (event.ends !== null) this.#note(event.ends, Number.POSITIVE_INFINITY);
    } else {
      const { epoch, data } = event.event;
      if (epoch < (this.#epochs.get(data.turn) ?? 0)) return;
      this.#note(data.turn, epoch);
    }
    this.#emit(event);
  }

  #note(turn: string, epoch: number): void {
    if (this.#epochs.get(turn) === epoch) return;
    this.#epochs.set(turn, epoch);
    if (this.#epochs.size <= MAX_TURNS) return;
    const [oldest] = this.#epochs.keys();
    if (oldest !== undefined) this.#epochs.delete(oldest);
  }
}
