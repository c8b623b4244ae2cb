import {
  digestOf,
  type LogMessage,
  type Segment,
  type SegmentRef,
  segmentKey,
  type SessionFields,
  type SessionKey,
} from "@troupe/contracts";
import { estimateTokens } from "@troupe/history";

/**
 * Sealing (K12): when the tail of the log has grown, its older part moves into segments, so that a commit
 * to a long conversation costs what it costs at a short one.
 *
 * Z1 A segment is named by what it holds: sealing again after a refused commit makes the same segment.
 * Z2 The tail keeps its newest messages, and never begins with a tool result.
 * Z3 Refs are few: sixteen of a level become one of the next.
 */
const SEAL_ABOVE_LENGTH = 16 * 1024;
/** What stays in the tail, at least and at most, roughly. */
const KEEP_MESSAGES = 10;
const KEEP_LENGTH = 4 * 1024;
const FANOUT = 16;
/** What role, turn and instant add to a message, and name and id to a call. */
const FRAME_LENGTH = 100;
const CALL_LENGTH = 100;

export interface Sealed {
  readonly fields: SessionFields;
  /** To be stored before a commit may name them, in this order. */
  readonly segments: readonly { readonly name: string; readonly text: string }[];
}

export function seal(key: SessionKey, fields: SessionFields): Sealed | undefined {
  const { log, generation } = fields;
  const sizes = log.tail.map(lengthOf);
  if (sum(sizes) <= SEAL_ABOVE_LENGTH) return undefined;
  const cut = cutOf(log.tail, sizes);
  if (cut === 0) return undefined;
  const stored: { name: string; text: string }[] = [];
  const store = (body: Segment, span: Omit<SegmentRef, "digest">): SegmentRef => {
    const text = JSON.stringify(body);
    const ref = { ...span, digest: digestOf(text) };
    stored.push({ name: segmentKey(key, generation, ref), text });
    return ref;
  };
  const to = log.from + cut;
  const messages = log.tail.slice(0, cut);
  const leaf = store(
    { messages },
    {
      from: log.from,
      to,
      level: 0,
      tokens: sum(messages.map(estimateTokens)),
      beginsTurn: messages[0]?.role === "user",
    },
  );
  const segments = packed([...log.segments, leaf], store);
  return { fields: { ...fields, log: { segments, from: to, tail: log.tail.slice(cut) } }, segments: stored };
}

/** Rough length of a message in the state: exact enough for a limit, and cheap on every commit. */
function lengthOf(message: LogMessage): number {
  const calls = message.role === "assistant" ? (message.tool_calls ?? []) : [];
  const callLength = calls.reduce((length, call) => length + call.function.arguments.length + CALL_LENGTH, 0);
  return FRAME_LENGTH + (message.content?.length ?? 0) + callLength;
}

/** Z2: where the tail may be cut; 0 when nowhere. */
function cutOf(tail: readonly LogMessage[], sizes: readonly number[]): number {
  let cut = tail.length;
  let kept = 0;
  while (cut > 0 && (tail.length - cut < KEEP_MESSAGES || kept < KEEP_LENGTH)) kept += sizes[--cut] ?? 0;
  while (cut > 0 && tail[cut]?.role === "tool") cut -= 1;
  // Large messages among the newest ten may move as well, as long as the newest group stays.
  if (cut > 0) return cut;
  const newest = tail.findLastIndex((message) => message.role !== "tool");
  return Math.max(0, newest);
}

/** Z3 */
function packed(
  refs: readonly SegmentRef[],
  store: (body: Segment, span: Omit<SegmentRef, "digest">) => SegmentRef,
): SegmentRef[] {
  let all = [...refs];
  for (let level = 0; ; level++) {
    const same = all.filter((ref) => ref.level === level);
    const [first] = same;
    const last = same.at(-1);
    if (same.length < FANOUT || first === undefined || last === undefined) return all;
    const index = store(
      { refs: same },
      {
        from: first.from,
        to: last.to,
        level: level + 1,
        tokens: sum(same.map((ref) => ref.tokens)),
        beginsTurn: first.beginsTurn,
      },
    );
    all = [...all.filter((ref) => ref.level > level), index, ...all.filter((ref) => ref.level < level)];
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
