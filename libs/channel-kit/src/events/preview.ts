/** Where a delta belongs. */
interface Place {
  readonly turn: string;
  readonly attempt: number;
}

export interface PreviewDelta extends Place {
  /** Counts the model calls of the turn. */
  readonly step: number;
  /** Counts the deltas of the attempt, without gaps. */
  readonly seq: number;
  readonly text: string;
}

/**
 * The answer as far as it has been streamed. Deltas may be lost or doubled, so this is only ever shown, never kept: the
 * final text replaces it.
 */
export class Preview {
  #text = "";
  #turn: string | undefined;
  #attempt = 0;
  #step = 0;
  /** Undefined before the first delta: whoever comes in the middle of an answer has missed nothing. */
  #lastSeq: number | undefined;

  get text(): string {
    return this.#text;
  }

  append(delta: PreviewDelta): void {
    if (this.#isStale(delta)) return;
    if (delta.turn !== this.#turn || delta.attempt > this.#attempt) this.reset(delta);
    const last = this.#lastSeq ?? delta.seq - 1;
    if (delta.seq <= last) return;
    if (delta.step !== this.#step && this.#text !== "") this.#text = `${this.#text.trimEnd()}\n\n`;
    this.#text += delta.seq > last + 1 ? ` … ${delta.text}` : delta.text;
    this.#lastSeq = delta.seq;
    this.#step = delta.step;
  }

  /** Throws the text away and ignores what still comes of earlier attempts. */
  reset({ turn, attempt }: Place): void {
    if (this.#isStale({ turn, attempt })) return;
    this.#turn = turn;
    this.#attempt = attempt;
    this.#text = "";
    this.#step = 0;
    this.#lastSeq = undefined;
  }

  end(turn: string): void {
    if (turn !== this.#turn) return;
    this.#turn = undefined;
    this.#attempt = 0;
    this.#text = "";
  }

  #isStale({ turn, attempt }: Place): boolean {
    return turn === this.#turn && attempt < this.#attempt;
  }
}
