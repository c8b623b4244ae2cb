import { ReasoningFilter } from "../src/index.js";

/** What a client of the live stream sees. */
export interface LivePreview {
  /** The preview in the end. */
  readonly text: string;
  /** Each preview that was thrown away. */
  readonly discarded: readonly string[];
  readonly deltas: readonly string[];
  readonly hadReasoning: boolean;
}

/** Streams `chunks` through a filter and keeps a preview as a client would. */
export function livePreview(chunks: Iterable<string>): LivePreview {
  const filter = new ReasoningFilter();
  const discarded: string[] = [];
  let deltas: string[] = [];
  const take = ({ text, reset }: { text: string; reset: boolean }) => {
    if (reset) {
      discarded.push(deltas.join(""));
      deltas = [];
    }
    if (text !== "") deltas.push(text);
  };
  for (const chunk of chunks) take(filter.push(chunk));
  take(filter.end());
  return { text: deltas.join(""), discarded, deltas, hadReasoning: filter.hadReasoning };
}
