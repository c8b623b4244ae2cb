import { excerptOf } from "./excerpt.js";

/** The longest tool result in UTF-16 units that the log and the model get; the whole of a longer one is a blob. */
export const MAX_RESULT_LENGTH = 16_000;

/** What the log keeps of a result too long for it: its beginning, and how to read on. */
export function shortened(whole: string, blob: string): string {
  const { text, next } = excerptOf(whole, 0, MAX_RESULT_LENGTH - 300);
  const readOn = JSON.stringify({ blob, offset: next });
  return `${text}\n[Cut after ${next} of ${whole.length} characters; read on with read_blob ${readOn}.]`;
}
