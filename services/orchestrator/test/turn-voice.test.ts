import { LiveEvent, type SessionKey } from "@troupe/contracts";
import { expect, it } from "vitest";
import { TurnVoice } from "../src/turn-voice.js";

const KEY = "http.a" as SessionKey;

function listen(): { readonly voice: TurnVoice; readonly counts: () => (readonly [string, number?, number?])[] } {
  const events: LiveEvent[] = [];
  const voice = new TurnVoice({ publish: (_key, body) => void events.push(LiveEvent.parse(JSON.parse(body))) });
  return {
    voice,
    counts: () =>
      events.map(({ kind, data }) => (kind === "reset" ? [kind, data.attempt] : [kind, data.attempt, data.seq])),
  };
}
const delta = (attempt: number, step = 1) => ({ turn: "t_1", attempt, step, text: "a" });
const tool = { turn: "t_1", callId: "c", name: "now", status: "done", summary: "now" } as const;

it("counts the deltas of an attempt over all its steps, and says at a tool how many there were", () => {
  const { voice, counts } = listen();
  voice.tool(KEY, 1, tool);
  voice.delta(KEY, 1, delta(1));
  voice.delta(KEY, 1, delta(1));
  voice.tool(KEY, 1, tool);
  voice.delta(KEY, 1, delta(1, 2));
  expect(counts()).toEqual([
    ["tool", 1, 0],
    ["delta", 1, 0],
    ["delta", 1, 1],
    ["tool", 1, 2],
    ["delta", 1, 2],
  ]);
});

it("begins to count anew when words are taken back, and under another owner", () => {
  const { voice, counts } = listen();
  voice.delta(KEY, 1, delta(1));
  voice.reset(KEY, 1, { turn: "t_1", attempt: 2, reason: "recovered" });
  voice.tool(KEY, 1, tool);
  voice.delta(KEY, 1, delta(2));
  voice.tool(KEY, 2, tool);
  expect(counts().slice(1)).toEqual([
    ["reset", 2],
    ["tool", 2, 0],
    ["delta", 2, 0],
    ["tool", 1, 0],
  ]);
});
