import { type LogMessage, Segment, type SegmentRef, segmentKey } from "@troupe/contracts";

/**
 * Reads a log whose older part is sealed into segments (K12). Segments never change, so whoever
 * provides `read` may keep them as long as it likes.
 */
export interface SealedLog {
  readonly key: string;
  readonly generation: number;
  readonly segments: readonly SegmentRef[];
  /** Absolute index of the tail's first message. */
  readonly from: number;
  readonly tail: readonly LogMessage[];
}

/** Gives a segment's body as text. Rejects when it is not there: a state never names one that was not stored. */
export type ReadSegment = (segmentKey: string) => Promise<string>;

/** The messages with absolute index `from` (inclusive) to `to` (exclusive), in order. */
export async function messagesBetween(
  log: SealedLog,
  range: { readonly from: number; readonly to: number },
  read: ReadSegment,
): Promise<LogMessage[]> {
  const sealed = await Promise.all(log.segments.map((ref) => messagesOf(log, ref, range, read)));
  const tail = log.tail.slice(Math.max(0, range.from - log.from), Math.max(0, range.to - log.from));
  return [...sealed.flat(), ...tail];
}

async function messagesOf(
  log: SealedLog,
  ref: SegmentRef,
  range: { readonly from: number; readonly to: number },
  read: ReadSegment,
): Promise<LogMessage[]> {
  if (ref.to <= range.from || ref.from >= range.to) return [];
  const segment = Segment.parse(JSON.parse(await read(segmentKey(log.key, log.generation, ref))));
  if ("messages" in segment) {
    return segment.messages.slice(Math.max(0, range.from - ref.from), Math.max(0, range.to - ref.from));
  }
  const parts = await Promise.all(segment.refs.map((inner) => messagesOf(log, inner, range, read)));
  return parts.flat();
}

/** Pieces asked for at once while a log is read backwards: one after the other, each would cost a round trip. */
const READ_AHEAD = 8;

/**
 * The newest part of the log that is at least as long as `enough` asks for, or all of it: pieces are
 * read backwards until it is, the next few ahead of time. Returns it with the absolute index of its first message.
 */
export async function newestMessages(
  log: SealedLog,
  enough: (messages: readonly LogMessage[], from: number) => boolean,
  read: ReadSegment,
): Promise<{ readonly from: number; readonly messages: readonly LogMessage[] }> {
  let { from } = log;
  let messages: readonly LogMessage[] = log.tail;
  let left = [...log.segments];
  const asked = new Map<SegmentRef, Promise<string>>();
  const ask = (ref: SegmentRef): Promise<string> => {
    const text = asked.get(ref) ?? read(segmentKey(log.key, log.generation, ref));
    // What was asked for ahead of time may come to be of no interest.
    text.catch(() => undefined);
    asked.set(ref, text);
    return text;
  };
  while (!enough(messages, from)) {
    for (const ref of left.slice(-READ_AHEAD)) void ask(ref);
    const newest = left.pop();
    if (newest === undefined) break;
    const segment = Segment.parse(JSON.parse(await ask(newest)));
    if ("refs" in segment) left = [...left, ...segment.refs];
    else {
      messages = [...segment.messages, ...messages];
      from = newest.from;
    }
  }
  return { from, messages };
}
