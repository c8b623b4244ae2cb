import { encode, LiveEvent, OutboxMessage, type SessionKey } from "@troupe/contracts";
import { describe, expect, it } from "vitest";
import { durableEvent, liveEvent, onceFor } from "../src/index.js";

const key = "http.a" as SessionKey;

describe("events of a conversation", () => {
  it("a final names the turn that it ends", () => {
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
    const message = { v: 1, id: "r_1", session: "http:a", generation: 0, kind: "final", final } as const;
    const event = durableEvent({ seq: 9, key, text: encode(OutboxMessage, message) });
    expect(event).toEqual({ kind: "durable", seq: 9, ends: "t_1", message });
  });

  it("a live one keeps its epoch", () => {
    const data = { turn: "t_1", attempt: 1, step: 1, seq: 0, text: "h" };
    const text = encode(LiveEvent, { v: 1, id: "l", epoch: 3, kind: "delta", data });
    expect(liveEvent(text)).toMatchObject({ kind: "live", event: { epoch: 3, data } });
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
