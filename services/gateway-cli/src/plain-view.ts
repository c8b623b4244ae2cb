import type { ChatView, Tone } from "./chat-view.js";
import { sanitise } from "./sanitise.js";

/** For pipes and files: the answers to what was asked here on one stream, the rest on another, no previews. */
export class PlainView implements ChatView {
  readonly #out: NodeJS.WritableStream;
  readonly #notes: NodeJS.WritableStream;

  constructor(out: NodeJS.WritableStream, notes: NodeJS.WritableStream) {
    this.#out = out;
    this.#notes = notes;
  }

  question(text: string): void {
    this.#notes.write(`> ${sanitise(text).replaceAll("\n", "\n  ")}\n`);
  }

  answer(text: string, asked: boolean): void {
    (asked ? this.#out : this.#notes).write(`${sanitise(text)}\n`);
  }

  note(text: string, _tone: Tone): void {
    this.#notes.write(`${sanitise(text)}\n`);
  }

  preview(): void {}

  status(): void {}
}
