import { setImmediate as nextRound } from "node:timers/promises";
import { ReasoningFilter } from "@troupe/reasoning";

/** Longer answers are cleaned piece by piece, so that the other conversations of this process go on meanwhile. */
export const LONG_ANSWER_LENGTH = 256 * 1024;
const PIECE_LENGTH = 64 * 1024;

/** A complete text without reasoning, as `cleanText` leaves it. */
export async function cleanAnswer(whole: string): Promise<string> {
  const filter = new ReasoningFilter();
  let visible: string[] = [];
  const take = ({ text, reset }: ReturnType<ReasoningFilter["push"]>): void => {
    if (reset) visible = [];
    visible.push(text);
  };
  for (let from = 0; from < whole.length; from += PIECE_LENGTH) {
    take(filter.push(whole.slice(from, from + PIECE_LENGTH)));
    await nextRound();
  }
  take(filter.end());
  return visible.join("");
}
