import { readFileSync } from "node:fs";
import type { LogMessage, ModelMessage } from "@troupe/contracts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { estimateTokens, INTERRUPTED, problemsOf, repair, windowStart } from "../src/index.js";

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
  const shown = window ? repaired.slice(windowStart(repaired, 1_000)) : repaired;
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

test("W1, W2: every window of every repaired log starts with a user message and keeps the last one", () => {
  fc.assert(
    fc.property(log, fc.integer({ min: 0, max: 200 }), (given, budget) => {
      const repaired = repair(given);
      const shown = repaired.slice(windowStart(repaired, budget));
      expect(shown[0]?.role).toBe("user");
      const last = (messages: readonly LogMessage[]) => messages.findLast((m) => m.role === "user");
      expect(last(shown)).toBe(last(repaired));
      expect(problemsOf(askable(shown))).toEqual([]);
      const tokens = shown.reduce((sum, m) => sum + estimateTokens(m), 0);
      const isOneTurn = shown.filter((m) => m.role === "user").length === 1;
      expect(isOneTurn || tokens <= budget).toBe(true);
    }),
  );
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
