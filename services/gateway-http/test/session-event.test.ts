import { createParser, type EventSourceMessage } from "eventsource-parser";
import { describe, expect, it } from "vitest";
import { eventFrame, sseFrame } from "../src/session-event.js";

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

describe("eventFrame", () => {
  const common = { v: 1, id: "r_1", session: "http:a", generation: 0 } as const;

  it("shows a final as it stands, under its place in the outbox", () => {
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
    const frame = eventFrame({ kind: "durable", seq: 9, ends: "t_1", message: { ...common, kind: "final", final } });
    expect(parsed(frame)).toEqual([{ event: "final", id: "9", data: JSON.stringify(final) }]);
  });

  it("shows a notice under its place", () => {
    const notice = { turn: "t_1", level: "info", text: "still working" } as const;
    const frame = eventFrame({ kind: "durable", seq: 8, ends: null, message: { ...common, kind: "notice", notice } });
    expect(parsed(frame)).toEqual([{ event: "notice", id: "8", data: JSON.stringify(notice) }]);
  });

  it("shows a delta with its place, and keeps its epoch to itself", () => {
    const data = { turn: "t_1", attempt: 1, step: 1, seq: 0, text: "h" };
    const frame = eventFrame({ kind: "live", event: { v: 1, id: "l", epoch: 3, kind: "delta", data } });
    expect(parsed(frame)[0]).toMatchObject({ event: "delta", data: JSON.stringify(data) });
  });
});
