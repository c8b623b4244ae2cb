/** How a line that is no answer is meant. */
export type Tone = "quiet" | "warning" | "error";

/** What a conversation shows; everything given here may be untrusted text, and the view makes it safe to print. */
export interface ChatView {
  /** What the person wrote, as part of the history. */
  question(text: string): void;
  /** What the agent answered; `asked` tells whether it was asked here and just now. */
  answer(text: string, asked: boolean): void;
  note(text: string, tone: Tone): void;
  /** A preview that the next call replaces; an empty text takes it away. */
  preview(text: string): void;
  /** What is going on right now; an empty text takes it away. */
  status(text: string): void;
}

/** For a conversation that has been left: what still comes of it is shown to nobody. */
export const SILENT_VIEW: ChatView = {
  question: () => undefined,
  answer: () => undefined,
  note: () => undefined,
  preview: () => undefined,
  status: () => undefined,
};
