import { STREAM } from "@troupe/contracts";
import { readBatch, readFromLeader, type StoredMessage } from "./stored-message.js";
import type { Wire } from "./wire.js";

export interface PageQuery {
  /** Subject, perhaps with wildcards. */
  readonly filter: string;
  /** Only what lies before this sequence; undefined: up to the newest. */
  readonly before: number | undefined;
  readonly limit: number;
}

export interface Page {
  /** The newest first. */
  readonly messages: readonly StoredMessage[];
  /** `before` of the next page; null when this is the last one. */
  readonly next: number | null;
  /** Messages of the filter, on all pages. */
  readonly total: number;
}

/**
 * One page of DEAD, the newest first, though the server reads forwards only: where the page begins is found by counting,
 * which the server does from its index. Without gaps that is one count, with gaps one for each halving of the stream; then
 * the page itself is read, and nothing besides. What comes and goes between two counts makes them wrong: that may make a
 * page shorter, or its reading longer. That there is nothing (more) is therefore never counted, but read.
 */
export async function readPage(wire: Wire, { filter, before, limit }: PageQuery): Promise<Page> {
  const newest = await readFromLeader(wire, STREAM.dead, { last_by_subj: filter });
  if (newest === null) return { messages: [], next: null, total: 0 };
  const end = Math.min(before ?? Number.POSITIVE_INFINITY, newest.seq + 1);
  const all = await countFrom(wire, filter, 1);
  const behind = (await countFrom(wire, filter, end)).count;
  const there = all.count - behind;
  const countBefore = async (from: number): Promise<number> => (await countFrom(wire, filter, from)).count - behind;
  const start = there <= limit ? all.first : await pageStart(countBefore, { start: all.first, end, limit });
  const messages = (await readRange(wire, filter, { start, end, limit })).reverse();
  const oldest = messages.at(-1)?.seq ?? start;
  return { messages, next: oldest > all.first ? oldest : null, total: all.count };
}

/** How many there are from a sequence on, and the first of them. */
async function countFrom(wire: Wire, filter: string, from: number): Promise<{ count: number; first: number }> {
  const { messages, left } = await readBatch(wire, { stream: STREAM.dead, subject: filter, from, limit: 1 });
  const [first] = messages;
  return first === undefined ? { count: 0, first: from } : { count: 1 + left, first: first.seq };
}

interface Range {
  readonly start: number;
  readonly end: number;
  readonly limit: number;
}

/** The sequence from which `limit` messages lie before `end`; there are more of them from `start` on. */
async function pageStart(
  countBefore: (from: number) => Promise<number>,
  { start, end, limit }: Range,
): Promise<number> {
  let [low, high] = [start, end];
  // Right at once where no message was removed or left out by the filter.
  let from = Math.max(low + 1, end - limit);
  while (high - low > 1) {
    const count = await countBefore(from);
    if (count === limit) return from;
    if (count < limit) high = from;
    else low = from;
    from = Math.floor((low + high) / 2);
  }
  return low;
}

/**
 * The newest `limit` messages of a range. It is read to its end, with one message more that shows where that is: had the
 * count been off by something that was removed, the newest of the page would be missing.
 */
async function readRange(wire: Wire, filter: string, { start, end, limit }: Range): Promise<StoredMessage[]> {
  const found: StoredMessage[] = [];
  for (let from = start; from < end; ) {
    const query = { stream: STREAM.dead, subject: filter, from, limit: limit + 1 };
    const { messages, more } = await readBatch(wire, query);
    found.push(...messages.filter(({ seq }) => seq < end));
    const last = messages.at(-1);
    if (last === undefined || !more) break;
    from = last.seq + 1;
  }
  return found.slice(-limit);
}
