import type { Final, LiveEvent } from "@troupe/contracts";

/** Between texts of different steps, which are messages of their own in the history. */
const BREAK = "\n\n";

/**
 * What of a turn may be shown before its final: a stream of this protocol cannot take words back.
 *
 * P1 Only an unbroken run of deltas from the first on, of one attempt and one owner, is passed on; after
 *    anything else the rest is held back until the final says what is true.
 * P2 Text of an earlier step (words before a tool call) stands: the answer continues behind it, as a
 *    paragraph of its own. White space alone is no text: a model that said no more is asked again.
 * P3 A step is over when an unbroken run shows it: by its next delta, or by a tool's progress that counts the deltas
 *    before it. Any event may be lost, also the one that took the step's words back.
 */
export class AnswerPreview {
  readonly #turn: string;
  /** Taken, and not yet read. */
  #ready = "";
  /** Whether anything has been read, and so shown. */
  #shown = false;
  /** All text of the present step: what the answer has to begin with. */
  #stepText = "";
  /** How much of it has been passed on. */
  #passed = 0;
  #step: number | null = null;
  #break = "";
  #next = 0;
  #epoch: number | null = null;
  #held = false;

  constructor(turn: string) {
    this.#turn = turn;
  }

  take({ kind, data, epoch }: LiveEvent): void {
    if (this.#held || data.turn !== this.#turn) return;
    // A late event of an owner that has lost the turn says nothing about the one that has it.
    if (this.#epoch !== null && epoch < this.#epoch) return;
    const follows =
      kind !== "reset" && data.attempt === 1 && data.seq === this.#next && (this.#epoch ?? epoch) === epoch;
    if (!follows || (kind === "delta" && data.step < (this.#step ?? data.step))) {
      this.#held = true;
      return;
    }
    if (kind === "tool") return this.#endStep();
    if (data.step !== this.#step) this.#endStep();
    this.#step = data.step;
    this.#epoch = epoch;
    this.#next += 1;
    this.#stepText += data.text;
    this.#append(this.#stepText);
  }

  /** Text that is new since the last call. */
  read(): string {
    const text = this.#ready;
    this.#ready = "";
    if (text !== "") this.#shown = true;
    return text;
  }

  /** What is left to show of the answer, or null when it does not continue what was shown. */
  rest(answer: string): string | null {
    this.#held = true;
    const passed = this.#stepText.slice(0, this.#passed);
    if (!answer.startsWith(passed)) return this.#shown ? null : answer;
    this.#append(answer);
    return this.read();
  }

  /** Passes on what is new in the present step's whole text. */
  #append(whole: string): void {
    const text = whole.slice(this.#passed);
    if (text === "" || whole.trim() === "") return;
    this.#passed = whole.length;
    this.#ready += this.#break + text;
    this.#break = "";
  }

  #endStep(): void {
    if (this.#passed > 0) this.#break = BREAK;
    this.#stepText = "";
    this.#passed = 0;
  }
}

/** The answer without the product's introduction, which clients of this protocol do not expect. */
export function answerText({ text, introduction }: Final): string {
  if (introduction === null || introduction === "") return text;
  const head = `${introduction}\n\n`;
  return text.startsWith(head) ? text.slice(head.length) : text;
}
