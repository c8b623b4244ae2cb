import { decode, LiveEvent, OutboxMessage } from "@troupe/contracts";
import type { OutboxEvent } from "@troupe/jetstream";

/** One event of a conversation, ready to be written to its event streams. */
export type SessionEvent =
  | {
      readonly kind: "durable";
      readonly seq: number;
      /** The turn that this event ends, if it is a final. */
      readonly ends: string | null;
      readonly frame: string;
    }
  | { readonly kind: "live"; readonly turn: string; readonly epoch: number; readonly frame: string };

/** An event of a kind this version does not know gives undefined: it is left to newer gateways. */
export function durableEvent({ seq, text }: OutboxEvent): SessionEvent | undefined {
  const decoded = decode(OutboxMessage, text);
  if (decoded.kind !== "ok") return undefined;
  const { message } = decoded;
  switch (message.kind) {
    case "final": {
      const frame = sseFrame("final", message.final, seq);
      return { kind: "durable", seq, ends: message.final.turn, frame };
    }
    case "notice":
      return { kind: "durable", seq, ends: null, frame: sseFrame("notice", message.notice, seq) };
  }
}

export function liveEvent(body: string): SessionEvent | undefined {
  const decoded = decode(LiveEvent, body);
  if (decoded.kind !== "ok") return undefined;
  const { kind, data, epoch } = decoded.message;
  return { kind: "live", turn: data.turn, epoch, frame: sseFrame(kind, data) };
}

/** One event in the form of `text/event-stream`. JSON holds no raw line break, so one `data` line does. */
export function sseFrame(event: string, data: unknown, id?: number): string {
  const head = id === undefined ? `event: ${event}\n` : `event: ${event}\nid: ${id}\n`;
  return `${head}data: ${JSON.stringify(data)}\n\n`;
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
