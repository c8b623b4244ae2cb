import { decode, decodeReply, LiveEvent, type OutboxMessage } from "@troupe/contracts";
import type { OutboxEvent } from "@troupe/jetstream";

/** What happens in a conversation, as those who follow it see it. */
export type ConversationEvent =
  | {
      readonly kind: "durable";
      readonly seq: number;
      readonly message: OutboxMessage;
      /** The turn that this event ends, if it is a final. */
      readonly ends: string | null;
    }
  | { readonly kind: "live"; readonly event: LiveEvent };

/** What this version cannot read gives undefined: a reader is not told of it. */
export function durableEvent({ key, seq, text }: OutboxEvent): ConversationEvent | undefined {
  const decoded = decodeReply(key, text);
  if (decoded.kind !== "ok") return undefined;
  const { message } = decoded;
  return { kind: "durable", seq, message, ends: message.kind === "final" ? message.final.turn : null };
}

export function liveEvent(body: string): ConversationEvent | undefined {
  const decoded = decode(LiveEvent, body);
  return decoded.kind === "ok" ? { kind: "live", event: decoded.message } : undefined;
}

/**
 * Remembers the last result: everybody who follows a conversation is handed the same event in turn,
 * and it is decoded and written out as text only once.
 */
export function onceFor<A, R>(convert: (input: A) => R, same: (one: A, other: A) => boolean): (input: A) => R {
  let last: { readonly input: A; readonly result: R } | undefined;
  return (input) => {
    if (last === undefined || !same(last.input, input)) last = { input, result: convert(input) };
    return last.result;
  };
}
