import type { ChatView } from "../src/chat-view.js";

/** What a person would have read, in order; previews and status as they stand now. */
export class RecordedView implements ChatView {
  readonly lines: string[] = [];
  /** The answers to what was asked here. */
  readonly asked: string[] = [];
  /** Every preview that was shown, in order, without repetitions. */
  readonly previews: string[] = [];
  previewNow = "";
  statusNow = "";

  question(text: string): void {
    this.lines.push(`question: ${text}`);
  }

  answer(text: string, asked: boolean): void {
    this.lines.push(`answer: ${text}`);
    if (asked) this.asked.push(text);
  }

  note(text: string, tone: string): void {
    this.lines.push(`${tone}: ${text}`);
  }

  preview(text: string): void {
    this.previewNow = text;
    if (this.previews.at(-1) !== text) this.previews.push(text);
  }

  status(text: string): void {
    this.statusNow = text;
  }

  count(line: string): number {
    return this.lines.filter((each) => each === line).length;
  }
}
