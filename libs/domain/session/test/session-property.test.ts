import { problemsOf } from "@troupe/history";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { SecondMessage } from "../src/index.js";
import { SessionDriver } from "./session-driver.js";

/** Whatever happens, in whatever order: one FINAL each, a valid history, nothing left under way. */
type Event =
  | { readonly kind: "user"; readonly id: number }
  | { readonly kind: "answer"; readonly text: string; readonly calls: readonly string[] }
  | { readonly kind: "fail" }
  | { readonly kind: "tool"; readonly which: number }
  | { readonly kind: "crash" | "cancel" | "reset" | "passed" | "summary" };

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("user" as const), id: fc.integer({ min: 0, max: 9 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("answer" as const),
      text: fc.constantFrom("", "text", "long ".repeat(40)),
      calls: fc.array(fc.constantFrom("now", "echo", "charge", "nonsense"), { maxLength: 3 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("tool" as const), which: fc.nat(5) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom("fail", "crash", "cancel", "reset", "passed", "summary") as fc.Arbitrary<"crash">,
    }),
  },
);

function apply(session: SessionDriver, happened: Event): void {
  const has = (kind: string) => session.runs.some((run) => run.body.kind === kind);
  switch (happened.kind) {
    case "user":
      return void session.user(`m${happened.id}`);
    case "answer":
      if (has("infer"))
        session.answer(
          happened.text,
          happened.calls.map((name) => ({ id: "same", name })),
        );
      return;
    case "fail":
      if (has("infer"))
        session.end("infer", { kind: "model", outcome: { kind: "failed", code: "cut", retryable: true, detail: "" } });
      return;
    case "tool": {
      const tools = session.runs.filter((run) => run.body.kind === "tool");
      const run = tools[happened.which % Math.max(1, tools.length)];
      if (run) session.endRun(run.ref, { kind: "tool", result: { content: "r", isError: false } });
      return;
    }
    case "crash":
      return session.crash();
    case "cancel":
    case "reset":
      return session.control(happened.kind);
    case "passed":
      if (has("patience")) session.end("patience", { kind: "passed" });
      return;
    case "summary":
      if (has("summarise")) session.end("summarise", { kind: "summary", text: "short" });
      return;
  }
}

/** Lets everything that is under way come to an end. */
function settle(session: SessionDriver): void {
  for (let i = 0; i < 200; i++) {
    const run = session.runs.find((x) => x.body.kind === "tool" || x.body.kind === "infer");
    if (run === undefined) return;
    if (run.body.kind === "infer") session.answer("the end");
    else session.endRun(run.ref, { kind: "tool", result: { content: "r", isError: false } });
  }
  throw new Error("it never comes to an end");
}

const mode = fc.constantFrom<SecondMessage>("queue", "steer", "interrupt");

test("any sequence of turns, failures, crashes and cancels: one FINAL each and a history a strict provider takes", () => {
  fc.assert(
    fc.property(mode, fc.array(event, { maxLength: 40 }), (secondMessage, events) => {
      const session = new SessionDriver({ secondMessage, windowTokens: 300 });
      const asked = new Set<string>();
      for (const happened of events) {
        if (happened.kind === "user") asked.add(`m${happened.id}`);
        apply(session, happened);
        const open = session.runs.some((run) => run.body.kind === "tool");
        const isAsked = session.runs.some((run) => run.body.kind === "infer");
        if (isAsked && !open) expect(problemsOf(session.asked)).toEqual([]);
      }
      settle(session);
      expect(session.finals).toHaveLength(asked.size);
      expect(new Set(session.finals.map((final) => final.turn)).size).toBe(asked.size);
      expect(problemsOf([...session.asked, { role: "user", content: "more" }])).toEqual([]);
      expect(session.runs.filter((run) => run.body.kind !== "summarise")).toEqual([]);
      expect(session.fields.messageCount).toBe(session.log.length);
    }),
    { numRuns: 1_000 },
  );
});
