import { blobNameOf, encode, OutboxMessage, type SessionKey } from "@troupe/contracts";
import { beforeEach, expect, test, vi } from "vitest";
import type { OutboxEvent } from "../src/outbox-feed.js";
import { WholeEvents } from "../src/whole-event.js";

/** Pauses take no time here, or no end. */
const pauses = vi.hoisted(() => ({ end: true }));
vi.mock("node:timers/promises", () => ({
  setTimeout: (_ms: number, _value: unknown, { signal }: { readonly signal: AbortSignal }) =>
    new Promise<void>((resolve, reject) => {
      if (pauses.end) return resolve();
      return signal.addEventListener("abort", () => reject(new Error("aborted")));
    }),
}));
beforeEach(() => {
  pauses.end = true;
});

const KEY = "http.a" as SessionKey;
const REST = "and the rest";

function final(seq: number, text: string, isLarge: boolean): OutboxEvent {
  const said = { turn: `t_${seq}`, kind: "answer", text, introduction: null, index: seq, error: null } as const;
  const rest = { blob: blobNameOf(REST), length: REST.length, tokens: 3 };
  const message = {
    v: 1,
    id: `e${seq}`,
    kind: "final",
    session: "http:a",
    generation: 2,
    final: { ...said, at: "2026-01-01T00:00:00.000Z", mergedInto: null },
    ...(isLarge ? { rest } : {}),
  } as const;
  return { seq, key: KEY, text: encode(OutboxMessage, message) };
}

const textOf = ({ text }: OutboxEvent): unknown => JSON.parse(text).final.text;

test("events of one conversation are passed on in order, also when a text has to be fetched, and at once when none has", async () => {
  const fetched: (() => void)[] = [];
  const get = vi.fn(() => new Promise<string>((resolve) => fetched.push(() => resolve(REST))));
  const whole = new WholeEvents({ get });
  const passed: unknown[] = [];
  const pass = (event: OutboxEvent) => whole.pass(event, (one) => passed.push(textOf(one)));
  pass(final(1, 'a short one that says "rest": ', false));
  expect(passed).toEqual(['a short one that says "rest": ']);
  pass(final(2, "a long one ", true));
  pass(final(3, "short again", false));
  await vi.waitFor(() => expect(fetched).toHaveLength(1));
  expect(passed).toHaveLength(1);
  expect(get).toHaveBeenCalledWith({ key: KEY, generation: 2 }, blobNameOf(REST));
  fetched[0]?.();
  await vi.waitFor(() => expect(passed.slice(1)).toEqual([`a long one ${REST}`, "short again"]));
});

test("a text whose rest is gone says so, and one that cannot be fetched now is tried again", async () => {
  const answers = [() => Promise.reject(new Error("away")), () => Promise.resolve(undefined)];
  const whole = new WholeEvents({ get: () => answers.shift()?.() ?? Promise.resolve(undefined) });
  const passed: unknown[] = [];
  whole.pass(final(1, "a long one", true), (one) => passed.push(textOf(one)));
  await vi.waitFor(() => expect(passed).toEqual(["a long one […]"]));
});

test("a text whose rest cannot be fetched at all says that its end is missing, and the next event comes after it", async () => {
  const whole = new WholeEvents({ get: () => Promise.reject(new Error("away")) });
  const passed: unknown[] = [];
  for (const event of [final(1, "a long one", true), final(2, "short", false)])
    whole.pass(event, (one) => passed.push(textOf(one)));
  await vi.waitFor(() => expect(passed).toEqual(["a long one […]", "short"]));
});

test("nothing waits, is fetched or passed on any more once all was stopped", async () => {
  pauses.end = false;
  const get = vi.fn(() => Promise.reject(new Error("away")));
  const whole = new WholeEvents({ get });
  const passed = vi.fn();
  whole.pass(final(1, "a long one", true), passed);
  whole.pass(final(2, "another long one", true), passed);
  await vi.waitFor(() => expect(get).toHaveBeenCalledOnce());
  whole.stop();
  await new Promise((resolve) => setImmediate(resolve));
  expect(get).toHaveBeenCalledOnce();
  expect(passed).not.toHaveBeenCalled();
});
