import type { SessionKey } from "@troupe/contracts";
import { type FilteredText, ReasoningFilter } from "@troupe/reasoning";
import type { TurnVoice } from "../turn-voice.js";
import type { LiveAttempts } from "./live-attempts.js";

/** The model call that is shown. */
export interface PreviewPlace {
  readonly session: SessionKey;
  readonly epoch: number;
  readonly turn: string;
  readonly step: number;
  /** As the state counts. */
  readonly attempt: number;
}

/** Text of one message that is shown while it is written, in UTF-16 units. Of more the final is soon enough. */
const MOST_SHOWN_LENGTH = 512 * 1024;

type ResetReason = Parameters<TurnVoice["reset"]>[2]["reason"];

/** What people see of one model call while it goes on: its text without reasoning, and a reset whenever text is void. */
export class TurnPreview {
  readonly #voice: Pick<TurnVoice, "delta" | "reset">;
  readonly #attempts: LiveAttempts;
  readonly #place: PreviewPlace;
  #filter = new ReasoningFilter();
  #shown = false;
  /** How much may still come. */
  #left = MOST_SHOWN_LENGTH;

  constructor(voice: Pick<TurnVoice, "delta" | "reset">, attempts: LiveAttempts, place: PreviewPlace) {
    this.#voice = voice;
    this.#attempts = attempts;
    this.#place = place;
  }

  /** Says that what another owner showed is void. */
  announce(): void {
    this.#say("recovered", this.#attempt);
  }

  /** A piece of what the model writes. */
  add(chunk: string): void {
    if (this.#left <= 0) return;
    const piece = chunk.slice(0, this.#left);
    this.#left -= chunk.length;
    this.#show(this.#filter.push(piece));
  }

  /** The model begins anew, or another one does. */
  reset(reason: ResetReason): void {
    this.#filter = new ReasoningFilter();
    this.#left = MOST_SHOWN_LENGTH;
    this.#void(reason);
  }

  /** The text is complete: what the filter kept back is shown. */
  end(): void {
    // What is kept back in the middle of a text may yet turn out to be reasoning.
    if (this.#left >= 0) this.#show(this.#filter.end());
  }

  get #attempt(): number {
    const { turn, epoch, attempt } = this.#place;
    return this.#attempts.current(turn, epoch, attempt);
  }

  #show({ text, reset }: FilteredText): void {
    if (reset) this.#void("reasoning");
    if (text === "") return;
    this.#shown = true;
    const { session, epoch, turn, step } = this.#place;
    this.#voice.delta(session, epoch, { turn, attempt: this.#attempt, step, text });
  }

  /** What was not seen need not be taken back. */
  #void(reason: ResetReason): void {
    if (!this.#shown) return;
    this.#shown = false;
    const { turn, epoch, attempt } = this.#place;
    this.#say(reason, this.#attempts.next(turn, epoch, attempt));
  }

  #say(reason: ResetReason, attempt: number): void {
    const { session, epoch, turn } = this.#place;
    this.#voice.reset(session, epoch, { turn, attempt, reason });
  }
}
