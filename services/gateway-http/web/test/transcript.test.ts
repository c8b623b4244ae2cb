import { describe, expect, it } from "vitest";
import type { Final } from "../src/api-answer.js";
import type { ChatEvent } from "../src/chat-event.js";
import type { HistoryMessage } from "../src/history-page.js";
import { Transcript } from "../src/transcript.js";
import type { OutgoingMessage, TurnItem } from "../src/turn-record.js";

const message = (id: string): OutgoingMessage => ({ id, text: `text of ${id}`, state: "sent", reason: "" });
const delta = (turn: string, seq: number, text: string, { attempt = 1, step = 1 } = {}): ChatEvent => ({
  kind: "delta",
  turn,
  attempt,
  step,
  seq,
  text,
});
const final = (turn: string, text: string, more: Partial<Final> = {}): Final => ({
  turn,
  kind: "answer",
  text,
  index: 1,
  retryable: false,
  ...more,
});
const page = (...messages: HistoryMessage[]) => ({ generation: 0, from: 0, total: messages.length, messages });
const user = (index: number, turn: string): HistoryMessage => ({ index, turn, role: "user", content: `q ${turn}` });
const answer = (index: number, turn: string, content: string): HistoryMessage => ({
  index,
  turn,
  role: "assistant",
  content,
  calls: [],
  failed: false,
});
const state = (turn: string | null, generation = 0) => ({ generation, messageCount: 0, queued: 0, turn });
const shown = (transcript: Transcript): string[] =>
  transcript.turns
    .filter(({ visible }) => visible)
    .flatMap((turn) => turn.items())
    .map((item: TurnItem) =>
      "text" in item ? `${item.kind}: ${item.text}` : item.kind === "tool" ? item.name : item.kind,
    );

describe("Transcript", () => {
  it("T1 shows a final once, whether it comes by the stream, by the answer to a retry, or twice", () => {
    const transcript = new Transcript();
    const own = message("m");
    transcript.write(own);
    transcript.receive(delta("t", 0, "Hel"));
    transcript.accepted(own, "t");
    expect(shown(transcript)).toEqual(["question: text of m", "answer: Hel"]);
    expect(transcript.finish(final("t", "Hello"))).toBe(true);
    expect(transcript.receive({ kind: "final", final: final("t", "Hello") })).toBe(false);
    transcript.receive(delta("t", 1, "lo"));
    expect(shown(transcript)).toEqual(["question: text of m", "answer: Hello"]);
    transcript.readLog(page(user(0, "t"), answer(1, "t", "Hello")));
    expect(shown(transcript)).toEqual(["question: q t", "answer: Hello"]);
    expect(transcript.busy).toBe(false);
  });

  it("throws a preview away at a reset, and ignores the attempt before", () => {
    const transcript = new Transcript();
    transcript.readLog(page(user(0, "t")), 0);
    transcript.receive(delta("t", 0, "wrong"));
    transcript.receive({ kind: "reset", turn: "t", attempt: 2 });
    transcript.receive(delta("t", 1, " words"));
    expect(shown(transcript)).toEqual(["question: q t", "thinking"]);
    transcript.receive(delta("t", 0, "right", { attempt: 2 }));
    expect(shown(transcript)).toEqual(["question: q t", "answer: right"]);
  });

  it("gives each step a paragraph of its own, and shows words that are missing as missing", () => {
    const transcript = new Transcript();
    transcript.readLog(page(user(0, "t")), 0);
    transcript.receive(delta("t", 0, "First."));
    transcript.receive({ kind: "tool", turn: "t", callId: "c", name: "now", status: "started", summary: "now" });
    transcript.receive(delta("t", 1, "Then", { step: 2 }));
    transcript.receive(delta("t", 1, "Then", { step: 2 }));
    transcript.receive(delta("t", 3, "end.", { step: 2 }));
    expect(shown(transcript)).toEqual(["question: q t", "answer: First.", "now", "answer: Then… end."]);
  });

  it("T2 takes from the log what the stream said before", () => {
    const transcript = new Transcript();
    transcript.readLog(page(user(0, "t")), 0);
    transcript.receive(delta("t", 0, "Fir"));
    transcript.receive({ kind: "tool", turn: "t", callId: "c", name: "now", status: "done", summary: "x" });
    transcript.receive(delta("t", 1, "Now", { step: 2 }));
    const calls = [{ id: "c", name: "now", arguments: "{}" }];
    transcript.readLog(
      page(user(0, "t"), { index: 1, turn: "t", role: "assistant", content: "First.", calls, failed: false }),
    );
    expect(shown(transcript)).toEqual(["question: q t", "answer: First.", "now", "answer: Now"]);
  });

  it("says that a second message is queued, and lets it stay behind the first", () => {
    const transcript = new Transcript();
    const [one, two] = [message("a"), message("b")];
    transcript.write(one);
    transcript.write(two);
    transcript.accepted(one, "t1");
    transcript.accepted(two, "t2");
    transcript.readState(state("t1"));
    transcript.readLog(page(user(0, "t1")), 0);
    expect(shown(transcript)).toEqual([
      "question: q t1",
      "thinking",
      "question: text of b",
      "quiet: Queued. It follows the turn before it.",
    ]);
  });

  it("keeps the place of a message that was cancelled before it got into the log", () => {
    const transcript = new Transcript();
    const own = message("b");
    transcript.readLog(page(user(0, "t1"), answer(1, "t1", "one")), 0);
    transcript.write(own);
    transcript.accepted(own, "t2");
    transcript.finish(final("t2", "Cancelled.", { kind: "cancelled", index: 1 }));
    transcript.readLog(page(user(2, "t3"), answer(3, "t3", "three")));
    expect(shown(transcript).slice(2, 4)).toEqual(["question: text of b", "quiet: Cancelled."]);
  });

  it("is another log after a reset, and shows no echo of the one before", () => {
    const transcript = new Transcript();
    expect(transcript.readState(state(null, 3))).toBe(true);
    expect(transcript.readState(state(null, 4))).toBe(false);
    transcript.finish(final("old", "Cancelled.", { kind: "cancelled" }));
    expect(shown(transcript)).toEqual([]);
  });
});
