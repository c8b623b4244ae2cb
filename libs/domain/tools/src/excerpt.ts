/**
 * Cuts at a border between graphemes (Unicode UAX #29), so that no character a person sees is torn.
 *
 * X1 A piece has at most `limit` UTF-16 units, unless its first grapheme alone is longer: then it is
 *    that grapheme, so that reading on always makes progress.
 * X2 `next` is where the next piece starts; the pieces put together are the text.
 */
export interface Excerpt {
  readonly text: string;
  readonly next: number;
}

const segmenter = new Intl.Segmenter("und", { granularity: "grapheme" });

/** Clusters longer than this are no characters any more; looking further back would cost more than it saves. */
const LONGEST_GRAPHEME = 256;

export function excerptOf(text: string, from: number, limit: number): Excerpt {
  const end = from + limit;
  if (end >= text.length) return { text: text.slice(from), next: text.length };
  const windowStart = Math.max(from, end - LONGEST_GRAPHEME);
  const window = text.slice(windowStart, end + LONGEST_GRAPHEME);
  let cut = windowStart;
  for (const { index, segment } of segmenter.segment(window)) {
    const segmentEnd = windowStart + index + segment.length;
    if (segmentEnd > end) {
      if (cut === from) cut = segmentEnd;
      break;
    }
    cut = segmentEnd;
  }
  return { text: text.slice(from, cut), next: cut };
}
