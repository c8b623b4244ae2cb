import type { LogMessage, SessionKey } from "@troupe/contracts";
import type { OutboxEvent } from "@troupe/jetstream";
import { describe, expect, it } from "vitest";
import { answered, runningTurn, sessionEntry, waitingMessage } from "@troupe/testkit";
import { finalInState, lookUpFinal } from "../src/index.js";

const said = (content: string): LogMessage => ({ role: "assistant", turn: "t_1", at: 1_700_000_000_000, content });
const digest = "0".repeat(64);
const log = {
  segments: [{ from: 0, to: 4, level: 0, tokens: 50, beginsTurn: true, digest }],
  from: 4,
  tail: [said("tail")],
};
const segments = { read: async () => JSON.stringify({ messages: ["a", "b", "c", "d"].map(said) }) };
const session = { key: "http.a" as SessionKey };

const blobs = { get: async () => undefined };

const outboxOf = (...events: OutboxEvent[]) => ({
  replay: async () => events,
  whole: async (event: OutboxEvent) => event,
});

const finalEvent = (generation: number): OutboxEvent => {
  const { final: recent } = answered("t_1");
  const final = { ...recent, generation: undefined, turn: "t_1", text: "old", at: "2023-11-14T22:13:20.456Z" };
  const message = { v: 1, id: "r_1", kind: "final", session: "http:a", generation, final };
  return { seq: 1, key: session.key, text: JSON.stringify(message) };
};

it("finds an answer whose text is sealed away, though the outbox no longer holds it", async () => {
  const entry = sessionEntry({ log, recent: [answered("t_1", { index: 2 })] });
  expect(await lookUpFinal({ outbox: outboxOf(), segments, blobs }, session, "t_1", entry)).toMatchObject({
    kind: "answer",
    text: "c",
  });
});

it("does not take a message of an earlier generation's index for the answer", async () => {
  const entry = sessionEntry({ log, recent: [answered("t_1", { index: 2, generation: -1 })] });
  expect(await lookUpFinal({ outbox: outboxOf(), segments, blobs }, session, "t_1", entry)).toBeNull();
});

it("finds in the outbox what the state has forgotten, unless it is of before the session was erased", async () => {
  const ports = { outbox: outboxOf(finalEvent(0)), segments, blobs };
  expect(await lookUpFinal(ports, session, "t_1", sessionEntry({ generation: 1 }))).toMatchObject({ text: "old" });
  expect(await lookUpFinal(ports, session, "t_1", null)).toMatchObject({ text: "old" });
  const erased = sessionEntry({ generation: 1, erased: true });
  expect(await lookUpFinal(ports, session, "t_1", erased)).toBeNull();
});

describe("finalInState", () => {
  const log = { segments: [], from: 4, tail: [said("the first"), said("the second")] };

  it("takes the text from the log when the state does not repeat it", () => {
    const found = finalInState(sessionEntry({ log, recent: [answered("t_1", { index: 5 })] }), "t_1");
    expect(found).toEqual({
      kind: "final",
      final: {
        turn: "t_1",
        kind: "answer",
        text: "the second",
        introduction: null,
        index: 5,
        at: "2023-11-14T22:13:20.456Z",
        error: null,
        mergedInto: null,
      },
    });
  });

  it("takes a text that the log does not hold from the state", () => {
    const recent = [answered("t_1", { kind: "cancelled", text: "Cancelled." })];
    expect(finalInState(sessionEntry({ recent }), "t_1")).toMatchObject({ final: { text: "Cancelled." } });
  });

  it("says where a text is that has been sealed away", () => {
    const found = finalInState(sessionEntry({ log, recent: [answered("t_1", { index: 3 })] }), "t_1");
    expect(found).toMatchObject({ kind: "sealed", final: { turn: "t_1", index: 3 } });
  });

  it("does not know a text of an earlier generation", () => {
    const entry = sessionEntry({ log, recent: [answered("t_1", { index: 5, generation: -1 })] });
    expect(finalInState(entry, "t_1")).toEqual({ kind: "unknown" });
  });

  it.each([
    ["running", sessionEntry({ turn: runningTurn("t_1") })],
    ["queued", sessionEntry({ queued: [waitingMessage("t_1")] })],
    ["steered", sessionEntry({ steered: [waitingMessage("t_1")] })],
    ["taken up", sessionEntry({ recent: [{ ...answered("t_1"), final: null }] })],
  ])("says that a turn is open while it is %s", (_how, entry) => {
    expect(finalInState(entry, "t_1")).toEqual({ kind: "open" });
  });
});
