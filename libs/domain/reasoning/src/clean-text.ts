import { ReasoningFilter } from "./reasoning-filter.js";

export interface CleanText {
  /** What a person, the history and the next model request may contain. */
  readonly visible: string;
  /** Reasoning was taken out; with an empty `visible`, the reply was nothing else. */
  readonly hadReasoning: boolean;
}

/** Takes reasoning out of a complete text; what stays is what a live stream of it would have shown in the end. */
export function cleanText(whole: string): CleanText {
  const filter = new ReasoningFilter();
  // One chunk, so nothing was shown before a reset: it is left out of the texts already.
  const pushed = filter.push(whole);
  const ended = filter.end();
  return { visible: ended.reset ? ended.text : pushed.text + ended.text, hadReasoning: filter.hadReasoning };
}
