import type { SessionKey } from "@troupe/contracts";
import { beforeEach, expect, it } from "vitest";
import { LiveAttempts } from "../../src/model/live-attempts.js";
import { TurnPreview } from "../../src/model/turn-preview.js";

let said: string[];
let attempts: LiveAttempts;
beforeEach(() => {
  said = [];
  attempts = new LiveAttempts();
});

function preview(step = 1, attempt = 1, epoch = 1): TurnPreview {
  const voice = {
    delta: (_key: SessionKey, _epoch: number, { attempt: n, text }: { attempt: number; text: string }) =>
      said.push(`${n}: ${text}`),
    reset: (_key: SessionKey, _epoch: number, { attempt: n, reason }: { attempt: number; reason: string }) =>
      said.push(`${n}: <${reason}>`),
  };
  const place = { session: "http.a" as SessionKey, epoch, turn: "t_1", step, attempt };
  return new TurnPreview(voice, attempts, place);
}

it("shows text as it comes, and never reasoning", () => {
  const one = preview();
  for (const piece of ["<think>", "hm", "</think>", "Hello", " there."]) one.add(piece);
  one.end();
  expect(said.join("")).not.toContain("hm");
  expect(said.map((line) => line.slice(3)).join("")).toBe("Hello there.");
});

it("takes back what turns out to have been reasoning, under a higher number", () => {
  const one = preview();
  one.add("Let me think about it for a while. ");
  one.add("</think>Hello.");
  one.end();
  const reset = said.indexOf("2: <reasoning>");
  expect(reset).toBeGreaterThan(0);
  expect(said.slice(reset + 1)).toEqual(["2: Hello."]);
});

it("a new try has a higher number, and knows nothing of the old one's reasoning", () => {
  const one = preview();
  one.add("Good morning to");
  one.reset("fallback");
  one.add("<think>never ends");
  one.reset("recovered");
  one.add("Hi.");
  one.end();
  // The second try showed nothing, so there was nothing to take back.
  expect(said).toEqual(["1: Good morning to", "2: <fallback>", "2: Hi."]);
});

it("the number does not fall with the turn's next model call", () => {
  const one = preview(1);
  one.add("Half");
  one.reset("recovered");
  one.add("Whole.");
  const two = preview(2);
  two.add("Next.");
  expect(said.at(-1)).toBe("2: Next.");
});

it("says at a takeover that what the other owner showed is void, and outranks all that it showed", () => {
  const lost = preview(1, 1, 1);
  lost.add("Half");
  for (const word of ["so", "far"]) {
    lost.reset("recovered");
    lost.add(word);
  }
  const before = said.length;
  attempts = new LiveAttempts();
  const taken = preview(1, 2, 2);
  taken.announce();
  taken.add("Again.");
  taken.reset("fallback");
  taken.add("Once more.");
  expect(said.slice(0, before).at(-1)).toBe("3: far");
  expect(said.slice(before)).toEqual(["1001: <recovered>", "1001: Again.", "1002: <fallback>", "1002: Once more."]);
});

it("a recovery outranks its predecessor however often that one began again", () => {
  for (let n = 0; n < 1_500; n++) attempts.next("t_1", 1, 1);
  expect(attempts.current("t_1", 1, 1)).toBeLessThan(new LiveAttempts().current("t_1", 2, 2));
});

it("forgets old turns, so that it does not grow for ever", () => {
  for (let turn = 0; turn < 10_001; turn++) attempts.next(`t_${turn}`, 1, 1);
  expect(attempts.current("t_0", 1, 1)).toBe(1);
  expect(attempts.current("t_10000", 1, 1)).toBe(2);
});
