import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ConversationEvent, EventSequence } from "../src/index.js";

const durable = (seq: number, ends: string | null = null): ConversationEvent => ({
  kind: "durable",
  seq,
  ends,
  message: {
    v: 1,
    id: `e${seq}`,
    kind: "notice",
    session: "http:a",
    generation: 0,
    notice: { turn: null, level: "info", text: "" },
  },
});
const live = (turn: string, epoch: number): ConversationEvent => ({
  kind: "live",
  event: { v: 1, id: "l", kind: "reset", epoch, data: { turn, attempt: 1, reason: "recovered" } },
});
const nameOf = (event: ConversationEvent): string =>
  event.kind === "durable" ? `#${event.seq}` : `${event.event.data.turn}@${event.event.epoch}`;

/** Arrives with the length of its name. */
function sequence(after: number, replaying: boolean) {
  const frames: string[] = [];
  const events = new EventSequence((event) => frames.push(nameOf(event)), after, replaying);
  const arrived = (event: ConversationEvent): void => events.arrived(event, nameOf(event).length);
  return { frames, events, arrived };
}

describe("EventSequence", () => {
  it("S1 S2 loses, doubles and reorders nothing, wherever replay and arrival overlap", () => {
    const cases = fc.record({
      total: fc.integer({ min: 0, max: 30 }),
      after: fc.integer({ min: 0, max: 30 }),
      // The feed has shown events from here on; the replay has found those up to there.
      heardFrom: fc.integer({ min: 1, max: 31 }),
      storedTo: fc.integer({ min: 0, max: 30 }),
      // How many had arrived when the replay ended.
      early: fc.integer({ min: 0, max: 30 }),
    });
    fc.assert(
      fc.property(cases, ({ total, after, heardFrom, storedTo, early }) => {
        fc.pre(storedTo <= total && heardFrom <= storedTo + 1 && after <= total);
        const { frames, events, arrived } = sequence(after, true);
        const heard = Array.from({ length: Math.max(0, total - heardFrom + 1) }, (_, n) => heardFrom + n);
        for (const seq of heard.slice(0, early)) arrived(durable(seq));
        for (let seq = after + 1; seq <= storedTo; seq++) events.replayed(durable(seq));
        events.replayEnded();
        for (const seq of heard.slice(early)) arrived(durable(seq));
        const expected = Array.from({ length: total - after }, (_, n) => `#${after + n + 1}`);
        expect(frames).toEqual(expected);
      }),
    );
  });

  it("S2 holds live events back while older ones are replayed, and says how much waits", () => {
    const { frames, events, arrived } = sequence(3, true);
    arrived(live("t", 1));
    arrived(durable(5));
    expect(frames).toEqual([]);
    expect(events.heldLength).toBe("t@1".length + "#5".length);
    events.replayed(durable(4));
    events.replayEnded();
    expect(frames).toEqual(["#4", "t@1", "#5"]);
    expect(events.heldLength).toBe(0);
  });

  it("S3 drops live events of a lower epoch, turn by turn", () => {
    const { frames, arrived } = sequence(0, false);
    arrived(live("a", 2));
    arrived(live("a", 1));
    arrived(live("b", 1));
    arrived(live("a", 3));
    arrived(live("a", 2));
    expect(frames).toEqual(["a@2", "b@1", "a@3"]);
  });

  it("S3 drops previews that come after the final that replaces them", () => {
    const { frames, arrived } = sequence(0, false);
    arrived(live("a", 1));
    arrived(durable(1, "a"));
    arrived(live("a", 9));
    arrived(live("b", 1));
    expect(frames).toEqual(["a@1", "#1", "b@1"]);
  });

  it("leaves events that it does not know alone", () => {
    const { frames, events } = sequence(0, false);
    events.arrived(undefined, 0);
    events.replayed(undefined);
    expect(frames).toEqual([]);
  });
});
