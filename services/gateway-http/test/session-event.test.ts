import { encode, LiveEvent, OutboxMessage, type SessionKey } from "@troupe/contracts";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { describe, expect, it } from "vitest";
import { durableEvent, liveEvent, onceFor, sseFrame } from "../src/session-event.js";

const key = "http.a" as SessionKey;

function parsed(frame: string): EventSourceMessage[] {
  const events: EventSourceMessage[] = [];
  createParser({ onEvent: (event) => events.push(event) }).feed(frame);
  return events;
}

describe("sseFrame", () => {
  it.each(["plain", "two\nlines\r\nand\rmore", "data: x\n\nevent: y", "", "\u2028 你好 😀"])(
    "carries %j unharmed to a standard parser",
    (text) => {
      expect(parsed(sseFrame("final", { text }, 7))).toEqual([
        { event: "final", id: "7", data: JSON.stringify({ text }) },
      ]);
    },
  );

  it("gives live events no id, so that a client does not resume behind them", () => {
    expect(parsed(sseFrame("delta", {}))[0]).toMatchObject({ event: "delta", id: undefined });
  });
});

describe("events", () => {
  const final = {
    turn: "t_1",
    kind: "answer",
    text: "hi",
    introduction: null,
    index: 1,
    at: "2026-01-02T03:04:05.678Z",
    error: null,
    mergedInto: null,
  } as const;
  const common = { v: 1, id: "r_1", session: "http:a", generation: 0 };

  it("shows a final as it stands and names the turn that it ends", () => {
    const text = encode(OutboxMessage, { ...common, kind: "final", final });
    const event = durableEvent({ seq: 9, key, text });
    expect(event).toMatchObject({ kind: "durable", seq: 9, ends: "t_1" });
    expect(JSON.parse(parsed(event?.frame ?? "")[0]?.data ?? "")).toEqual(final);
  });

  it("shows a delta with its place, and keeps its epoch to itself", () => {
    const data = { turn: "t_1", attempt: 1, step: 1, seq: 0, text: "h" };
    const event = liveEvent(encode(LiveEvent, { v: 1, id: "l", epoch: 3, kind: "delta", data }));
    expect(event).toMatchObject({ kind: "live", turn: "t_1", epoch: 3 });
    expect(parsed(event?.frame ?? "")[0]).toMatchObject({ event: "delta", data: JSON.stringify(data) });
  });

  it.each(["nonsense", "{}", '{"v":99,"id":"x","kind":"final"}', '{"v":1,"id":"x","kind":"other"}'])(
    "leaves out %s",
    (text) => {
      expect(durableEvent({ seq: 1, key, text })).toBeUndefined();
      expect(liveEvent(text)).toBeUndefined();
    },
  );
});

describe("onceFor", () => {
  it("converts an event once for all who are handed it", () => {
    let calls = 0;
    const convert = onceFor((n: number) => {
      calls += 1;
      return n * 2;
    }, Object.is);
    expect([convert(1), convert(1), convert(2), convert(1)]).toEqual([2, 2, 4, 2]);
    expect(calls).toBe(3);
  });
});
