import { readFileSync } from "node:fs";
import type { LogMessage, ModelMessage } from "@troupe/contracts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { estimateTokens, INTERRUPTED, problemsOf, repair, summaryEnd, windowOf } from "../src/index.js";

interface Case {
  readonly name: string;
  readonly in: readonly Record<string, unknown>[];
  readonly window?: boolean;
  readonly expect: {
    readonly roles?: readonly string[];
    readonly interrupted?: readonly string[];
    readonly first?: string;
    readonly keepsLastUser?: boolean;
  };
}

const cases = JSON.parse(readFileSync(new URL("./fixtures/history.json", import.meta.url), "utf8")) as Case[];

function toLog(message: Record<string, unknown>): LogMessage {
  const extra = message["role"] === "tool" ? { isError: false, blob: null } : {};
  return { turn: "t_1", at: 0, ...extra, ...message } as LogMessage;
}

function toModel(message: LogMessage): ModelMessage {
  const { turn: _turn, at: _at, ...rest } = message;
  return rest;
}

/** A reply may be asked for: the end of a repaired log is made such an end. */
function askable(log: readonly LogMessage[]): ModelMessage[] {
  return [...log.map(toModel), { role: "user", content: "go on" }];
}

test.each(cases)("$name", ({ in: given, window, expect: wanted }) => {
  const repaired = repair(given.map(toLog));
  const shown = window ? windowOf(repaired, 1_000) : repaired;
  if (wanted.roles) expect(shown.map((message) => message.role)).toEqual(wanted.roles);
  if (wanted.interrupted) {
    const closed = shown.flatMap((m) => (m.role === "tool" && m.content === INTERRUPTED ? [m.tool_call_id] : []));
    expect(closed).toEqual(wanted.interrupted);
  }
  if (wanted.first) expect(shown[0]?.role).toBe(wanted.first);
  if (wanted.keepsLastUser) {
    const lastUser = given.findLast((message) => message["role"] === "user");
    expect(shown.findLast((message) => message.role === "user")?.content).toBe(lastUser?.["content"]);
  }
  expect(problemsOf(askable(shown))).toEqual([]);
});

const id = fc.constantFrom("a", "b", "c", "");
const message: fc.Arbitrary<LogMessage> = fc
  .oneof(
    fc.record({ role: fc.constant("user" as const), content: fc.string() }),
    fc.record({ role: fc.constant("assistant" as const), content: fc.option(fc.string()) }),
    fc.record({
      role: fc.constant("assistant" as const),
      content: fc.option(fc.string()),
      tool_calls: fc.array(
        fc.record({
          id,
          type: fc.constant("function" as const),
          function: fc.record({ name: fc.constant("echo"), arguments: fc.constantFrom("{}", "{", "[]", '"x"') }),
        }),
        { maxLength: 3 },
      ),
    }),
    fc.record({
      role: fc.constant("tool" as const),
      tool_call_id: id,
      content: fc.string(),
      isError: fc.boolean(),
      blob: fc.constant(null),
    }),
  )
  .map((body) => ({ turn: "t_1", at: 0, ...body }));

/** Any log at all, however damaged, that begins with somebody asking. */
const log = fc
  .array(message, { maxLength: 14 })
  .map((messages): LogMessage[] => [{ role: "user", turn: "t_1", at: 0, content: "first" }, ...messages]);

test("H2–H5: whatever the log, a strict validator takes the repaired one", () => {
  fc.assert(
    fc.property(log, (given) => {
      expect(problemsOf(askable(repair(given)))).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
});

test("H6: no user message is ever dropped, nor changed", () => {
  fc.assert(
    fc.property(log, (given) => {
      const users = (messages: readonly LogMessage[]) => messages.filter((m) => m.role === "user");
      expect(users(repair(given))).toEqual(users(given));
    }),
  );
});

test("H7: a repaired history is the same object when it is repaired again", () => {
  fc.assert(
    fc.property(log, (given) => {
      const once = repair(given);
      expect(repair(once)).toBe(once);
    }),
  );
});

test("H6: calls that are being run stay open at the end, and only there", () => {
  const calls = (ids: string[]): LogMessage =>
    toLog({
      role: "assistant",
      content: null,
      tool_calls: ids.map((callId) => ({ id: callId, type: "function", function: { name: "now", arguments: "{}" } })),
    });
  const given = [toLog({ role: "user", content: "hi" }), calls(["a", "b"])];
  expect(repair(given, new Set(["a", "b"]))).toBe(given);
  expect(repair(given, new Set(["a"])).map((m) => m.role)).toEqual(["user", "assistant", "tool"]);
});

test("W1–W3: every window of every repaired log is legal, keeps the last question, and fits if it can", () => {
  fc.assert(
    fc.property(log, fc.integer({ min: 0, max: 200 }), (given, budget) => {
      const repaired = repair(given);
      const shown = windowOf(repaired, budget);
      expect(shown[0]?.role).toBe("user");
      const last = (messages: readonly LogMessage[]) => messages.findLast((m) => m.role === "user");
      expect(last(shown)).toBe(last(repaired));
      expect(problemsOf(askable(shown))).toEqual([]);
      expect(shown.at(-1)).toBe(repaired.at(-1));
      const isAll = repaired.reduce((sum, m) => sum + estimateTokens(m), 0) <= budget;
      if (isAll) expect(shown).toEqual(repaired);
    }),
    { numRuns: 2_000 },
  );
});

const said = (role: "user" | "assistant", length: number): LogMessage => toLog({ role, content: "x".repeat(length) });
const looked = (id: string, length: number): LogMessage[] => [
  toLog({
    role: "assistant",
    content: null,
    tool_calls: [{ id, type: "function", function: { name: "now", arguments: "{}" } }],
  }),
  toLog({ role: "tool", tool_call_id: id, content: "r".repeat(length) }),
];

test("W3: after a turn far over the budget its question and its answer are shown with the next question", () => {
  const long = [
    said("user", 40),
    ...Array.from({ length: 20 }, (_, i) => looked(`c${i}`, 4_000)).flat(),
    said("assistant", 400),
  ];
  const shown = windowOf([...long, said("user", 20)], 2_000);
  expect(shown[0]).toBe(long[0]);
  expect(shown).toContain(long.at(-1));
  expect(shown.reduce((sum, m) => sum + estimateTokens(m), 0)).toBeLessThanOrEqual(2_000);
});

test("W2: of a running turn over the budget the question and the newest results are shown", () => {
  const running = [said("user", 40), ...Array.from({ length: 20 }, (_, i) => looked(`c${i}`, 4_000)).flat()];
  const shown = windowOf(running, 2_500);
  expect(shown[0]).toBe(running[0]);
  expect(shown.at(-1)).toBe(running.at(-1));
  expect(shown.length).toBeLessThan(running.length);
  expect(problemsOf(askable(shown))).toEqual([]);
});

test("a summary ends before a question, and never takes the newest turn", () => {
  const tail = [
    ...Array.from({ length: 9 }, () => [said("user", 400), said("assistant", 400)]).flat(),
    said("user", 400),
  ];
  const end = summaryEnd({ segments: [], from: 100, tail }, 0, 1_000);
  expect(tail[(end ?? 0) - 100]?.role).toBe("user");
  const oneTurn = [said("user", 40), ...Array.from({ length: 20 }, (_, i) => looked(`c${i}`, 4_000)).flat()];
  expect(summaryEnd({ segments: [], from: 0, tail: oneTurn }, 0, 1_000)).toBeNull();
  const inside = { from: 0, to: 40, level: 0, tokens: 9_000, beginsTurn: true, digest: "" };
  expect(summaryEnd({ segments: [inside], from: 40, tail: oneTurn.slice(5) }, 0, 1_000)).toBeNull();
});

test("the validator is quick: 10,000 messages in well under 100 ms", () => {
  const long = Array.from({ length: 5_000 }, (_, i): LogMessage[] => [
    toLog({ role: "user", content: `question ${i}` }),
    toLog({ role: "assistant", content: `answer ${i}` }),
  ]).flat();
  const messages = askable(long);
  const best = Math.min(
    ...Array.from({ length: 5 }, () => {
      const startedAt = performance.now();
      expect(problemsOf(messages)).toEqual([]);
      return performance.now() - startedAt;
    }),
  );
  console.log(`validator: ${((best * 1_000) / messages.length).toFixed(2)} µs per message`);
  expect(best).toBeLessThan(100);
});
