import type { Delta, ToolProgress } from "./chat-event.js";

export type LiveItem =
  | { readonly kind: "text"; readonly step: number; readonly text: string }
  | {
      readonly kind: "tool";
      readonly callId: string;
      readonly name: string;
      readonly status: string;
      readonly summary: string;
    };

/**
 * What a turn has said and done so far, as far as the stream told. Never evidence of anything: deltas may be lost or
 * doubled, and what the log or the final says takes its place.
 */
export class LiveAnswer {
  #items: LiveItem[] = [];
  #attempt = 0;
  #lastSeq = -1;

  get items(): readonly LiveItem[] {
    return this.#items;
  }

  append({ attempt, step, seq, text }: Delta): void {
    if (attempt < this.#attempt) return;
    if (attempt > this.#attempt) this.reset(attempt);
    if (seq <= this.#lastSeq) return;
    // Words that are missing are shown as missing.
    const shown = seq > this.#lastSeq + 1 ? `… ${text}` : text;
    this.#lastSeq = seq;
    const last = this.#items.at(-1);
    if (last?.kind === "text" && last.step === step) {
      this.#items[this.#items.length - 1] = { ...last, text: last.text + shown };
    } else {
      this.#items.push({ kind: "text", step, text: shown });
    }
  }

  /** Throws the text away, and ignores what still comes of earlier attempts. */
  reset(attempt: number): void {
    if (attempt < this.#attempt) return;
    this.#attempt = attempt;
    this.#lastSeq = -1;
    this.#items = this.#items.filter(({ kind }) => kind !== "text");
  }

  tool({ callId, name, status, summary }: ToolProgress): void {
    const item: LiveItem = { kind: "tool", callId, name, status, summary };
    const known = this.#items.findIndex((other) => other.kind === "tool" && other.callId === callId);
    if (known < 0) this.#items.push(item);
    else this.#items[known] = item;
  }

  /** Takes away what the log has: the calls, and the text of its steps. */
  settle(callIds: ReadonlySet<string>, steps: number): void {
    this.#items = this.#items.filter((item) => (item.kind === "tool" ? !callIds.has(item.callId) : item.step > steps));
  }

  /** The turn has ended: the final takes the place of what was being said last. */
  end(): void {
    if (this.#items.at(-1)?.kind === "text") this.#items.pop();
  }
}
