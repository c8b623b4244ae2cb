import { describe, expect, test } from "vitest";
import { SessionDriver } from "./session-driver.js";

const failed = (code: "refused" | "unreachable" | "context_too_long", retryable = false) =>
  ({ kind: "model", outcome: { kind: "failed", code, retryable, detail: "secret host" } }) as const;

test("S1: the question is in the log before the model is asked, the answer when the turn ends", () => {
  const session = new SessionDriver();
  const turn = session.user("m1", "hi");
  expect(session.roles).toBe("user");
  expect(session.runs.map((run) => run.ref)).toEqual(["patience", "infer"]);
  session.answer("hello");
  expect(session.finalOf(turn)).toMatchObject({
    kind: "answer",
    text: "hello",
    index: 1,
    introduction: null,
    error: null,
  });
  expect(session.roles).toBe("user assistant");
  expect(session.fields).toMatchObject({ turn: null, messageCount: 2 });
  expect(session.runs).toEqual([]);
});

describe("tool calls", () => {
  test("S1, S2: calls are logged before they run, results as they arrive, then the model goes on", () => {
    const session = new SessionDriver();
    const turn = session.user("m1");
    session.answer("let me see", [
      { id: "a", name: "now" },
      { id: "b", name: "echo", args: '{"text":"x"}' },
    ]);
    expect(session.roles).toBe("user assistant");
    session.endRun("tool:b", { kind: "tool", result: { content: "x", isError: false } });
    expect(session.runs.some((run) => run.ref === "infer")).toBe(false);
    session.endRun("tool:a", { kind: "tool", result: { content: "12:00", isError: false } });
    session.answer("done");
    expect(session.roles).toBe("user assistant tool tool assistant");
    expect(session.finalOf(turn)).toMatchObject({ text: "done", index: 4 });
  });

  test("a call that cannot be made gets an error that names the fault, and the model goes on at once", () => {
    const session = new SessionDriver();
    session.user("m1");
    session.answer("", [
      { id: "a", name: "nonsense" },
      { id: "b", name: "echo", args: '{"text": "a' },
      { id: "c", name: "echo", args: '"a"' },
    ]);
    const results = session.log.flatMap((message) => (message.role === "tool" ? [message] : []));
    expect(results.map((result) => result.isError)).toEqual([true, true, true]);
    expect(results[0]?.content).toContain("nonsense");
    expect(results[1]?.content).toContain('{"text": "a');
    expect(session.log[1]).toMatchObject({ content: null, tool_calls: [{}, { function: { arguments: "{}" } }, {}] });
    expect(session.runs.map((run) => run.ref)).toContain("infer");
  });

  test("ids that are missing or taken are made, once, and stay unique in the whole log", () => {
    const session = new SessionDriver();
    for (const message of ["m1", "m2"]) {
      session.user(message);
      session.answer("", [{ name: "now" }, { id: "same", name: "now" }, { id: "same", name: "now" }]);
      while (session.runs.some((run) => run.body.kind === "tool")) {
        session.end("tool", { kind: "tool", result: { content: "t", isError: false } });
      }
      session.answer("ok");
    }
    const ids = session.log
      .flatMap((message) => (message.role === "assistant" ? (message.tool_calls ?? []) : []))
      .map((call) => call.id);
    expect(ids).toHaveLength(6);
    expect(new Set(ids).size).toBe(6);
  });

  test("after a crash a tool that may be done twice is run again, another is reported as unknown", () => {
    const session = new SessionDriver();
    session.user("m1");
    session.answer("", [
      { id: "a", name: "now" },
      { id: "b", name: "charge" },
    ]);
    session.crash();
    expect(session.runs.map((run) => run.ref)).toEqual(["patience", "tool:a"]);
    expect(session.log.at(-1)).toMatchObject({ role: "tool", tool_call_id: "b", isError: true });
    expect(session.log.at(-1)?.content).toContain("unknown");
    session.endRun("tool:a", { kind: "tool", result: { content: "t", isError: false } });
    session.answer("ok");
    expect(session.finals).toHaveLength(1);
  });
});

describe("failures and limits (S4) end with one honest final and no internals", () => {
  test.each([
    [failed("refused"), "model_refused", false],
    [failed("unreachable", true), "model_unavailable", true],
    [failed("context_too_long"), "context_too_long", false],
    [{ kind: "deadline" } as const, "deadline", true],
  ])("%j", (outcome, code, retryable) => {
    const session = new SessionDriver();
    const turn = session.user("m1");
    session.end("infer", outcome);
    expect(session.finalOf(turn)).toMatchObject({ kind: "error", error: { code, retryable }, index: 1 });
    expect(session.finalOf(turn)?.text).not.toContain("secret");
    expect(session.log.at(-1)).toMatchObject({ role: "assistant", failed: true });
  });

  test("steps", () => {
    const session = new SessionDriver();
    const turn = session.user("m1");
    for (let i = 0; i < 5; i++) {
      session.answer("", [{ id: `c${i}`, name: "now" }]);
      session.end("tool", { kind: "tool", result: { content: "t", isError: false } });
    }
    expect(session.finalOf(turn)?.error).toEqual({ code: "turn_limit", retryable: false });
  });

  test("tokens: an answer that comes with the last of them still counts", () => {
    const session = new SessionDriver();
    const first = session.user("m1");
    session.answer("ok", [], 20_000);
    expect(session.finalOf(first)?.kind).toBe("answer");
    const second = session.user("m2");
    session.answer("", [{ id: "a", name: "now" }], 20_000);
    session.end("tool", { kind: "tool", result: { content: "t", isError: false } });
    expect(session.finalOf(second)?.error?.code).toBe("budget_exceeded");
  });

  test("an empty answer is asked for again twice", () => {
    const session = new SessionDriver();
    const turn = session.user("m1");
    session.answer("  ");
    session.answer("");
    expect(session.finals).toEqual([]);
    session.answer("\n");
    expect(session.finalOf(turn)?.error?.code).toBe("empty_answer");
  });

  test("a turn that ends its process again and again is given up on", () => {
    const session = new SessionDriver();
    const turn = session.user("m1");
    for (let i = 0; i < 10 && session.fields.turn !== null; i++) session.crash();
    expect(session.finalOf(turn)?.error?.code).toBe("internal");
  });
});

test("F2: the introduction goes before the first answer of a generation, never before a failure", () => {
  const session = new SessionDriver({ introduction: "I am Troupe." });
  const [failing, program] = [session.user("m1"), session.user("m2", "x", { introduce: false })];
  session.end("infer", failed("refused"));
  session.answer("for a program");
  const first = session.user("m3");
  session.answer("hello");
  const next = session.user("m4");
  session.answer("again");
  expect(session.finalOf(failing)?.introduction).toBeNull();
  expect(session.finalOf(program)?.text).toBe("for a program");
  expect(session.finalOf(first)).toMatchObject({ text: "I am Troupe.\n\nhello", introduction: "I am Troupe." });
  expect(session.log[5]?.content).toBe("I am Troupe.\n\nhello");
  expect(session.finalOf(next)).toMatchObject({ text: "again", introduction: null });
  session.control("reset");
  const anew = session.user("m5");
  session.answer("hi");
  expect(session.finalOf(anew)?.introduction).toBe("I am Troupe.");
});

test("a long turn says that it still works, at growing intervals, and no longer once it ended", () => {
  const session = new SessionDriver();
  session.user("m1");
  session.end("patience", { kind: "passed" });
  session.end("patience", { kind: "passed" });
  expect(session.published.filter((message) => message.kind === "notice")).toHaveLength(2);
  expect(session.runs.find((run) => run.ref === "patience")?.body).toMatchObject({ ms: 120_000 });
  session.answer("done");
  expect(session.runs).toEqual([]);
});

test("a long log is summarised beside the turns; without a summary nothing changes", () => {
  const session = new SessionDriver({ windowTokens: 200 });
  for (let i = 0; i < 6; i++) {
    session.user(`m${i}`, "q".repeat(100));
    session.answer("a".repeat(100));
  }
  const before = session.log;
  const run = session.runs.find((x) => x.body.kind === "summarise");
  expect(run).toBeDefined();
  session.end("summarise", { kind: "summary", text: null });
  expect(session.fields.summary).toBeNull();
  expect(session.log).toEqual(before);
  session.user("m9");
  session.answer("ok");
  session.end("summarise", { kind: "summary", text: "in short" });
  expect(session.fields.summary?.text).toBe("in short");
  expect(session.log.slice(0, before.length)).toEqual(before);
  session.control("reset");
  expect(session.fields.summary).toBeNull();
});

describe("S5: reasoning never enters log or reply", () => {
  test("in an answer, and in what is said before a call", () => {
    const session = new SessionDriver();
    const turn = session.user("m1");
    session.answer("<think>secret</think>Let me look.", [{ id: "a", name: "now" }]);
    session.end("tool", { kind: "tool", result: { content: "t", isError: false } });
    session.answer("It was secret.</think>Noon.");
    expect(session.finalOf(turn)?.text).toBe("Noon.");
    expect(session.log[1]?.content).toBe("Let me look.");
    expect(JSON.stringify(session.fields)).not.toContain("secret");
  });

  test("an answer that is nothing but reasoning is asked for again, and never becomes an empty message", () => {
    const session = new SessionDriver();
    const turn = session.user("m1");
    for (let i = 0; i < 3; i++) session.answer("<think>only this</think>");
    expect(session.finalOf(turn)).toMatchObject({ kind: "error", error: { code: "empty_answer" } });
    expect(session.finalOf(turn)?.text).not.toBe("");
  });
});
