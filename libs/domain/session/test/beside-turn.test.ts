import { describe, expect, test } from "vitest";
import { SessionDriver } from "./session-driver.js";

describe("beside and after a turn", () => {
  test("a hand-over costs no attempt once the turn moves on", () => {
    const session = new SessionDriver({
      limits: { maxSteps: 40, deadlineMs: 60_000, maxTokens: 1_000_000, noticeMs: 0 },
    });
    const turn = session.user("m1");
    for (let i = 0; i < 12; i++) {
      session.crash();
      session.answer("", [{ id: `c${i}`, name: "now" }]);
      session.end("tool", { kind: "tool", result: { content: "t", isError: false } });
    }
    session.answer("done");
    expect(session.finalOf(turn)?.text).toBe("done");
  });

  test("a summary that ends its run does not end the turn that runs beside it", () => {
    const session = new SessionDriver({ windowTokens: 200 });
    for (let i = 0; i < 6; i++) {
      session.user(`m${i}`, "q".repeat(100));
      session.answer("a".repeat(100));
    }
    const run = session.runs.find((x) => x.body.kind === "summarise");
    if (run === undefined) throw new Error("no summary is under way");
    const turn = session.user("m9");
    const { fields } = session.actor.onPoison(
      session.fields,
      { kind: "resumed", runs: [run] },
      "reading failed",
      2_000,
    );
    expect(fields.turn?.id).toBe(turn);
    expect(fields.summarising).toBe(false);
  });

  test("a summary under way is not begun anew by the next turn's end", () => {
    const session = new SessionDriver({ windowTokens: 200 });
    for (let i = 0; i < 12; i++) {
      session.user(`m${i}`, "q".repeat(100));
      session.answer("a".repeat(100));
    }
    const under = () => session.runs.filter((x) => x.body.kind === "summarise");
    const [first] = under();
    session.user("m12", "q".repeat(100));
    session.answer("a".repeat(100));
    expect(first).toBeDefined();
    expect(under()).toEqual([first]);
  });

  test("ids that count are not trusted once part of the log is out of sight", () => {
    const session = new SessionDriver();
    for (let i = 0; i < 3; i++) {
      session.user(`m${i}`, "q".repeat(9_000));
      session.answer("", [{ id: "call_0", name: "now" }]);
      session.end("tool", { kind: "tool", result: { content: "t", isError: false } });
      session.answer("ok");
      const sealed = session.actor.seal(session.fields);
      if (sealed) session.fields = sealed.fields;
    }
    expect(session.fields.log.segments.length).toBeGreaterThan(0);
    const ids = session.log.flatMap((m) => (m.role === "assistant" ? (m.tool_calls ?? []) : [])).map((call) => call.id);
    expect(ids.filter((id) => id === "call_0").length).toBeLessThanOrEqual(1);
    expect(ids.at(-1)).not.toBe("call_0");
  });

  test("mail that turns to poison after its turn is done says nothing a second time", () => {
    const session = new SessionDriver();
    const turn = session.user("m1");
    session.answer("ok");
    const mail = {
      v: 1,
      id: "m1",
      kind: "user",
      turn,
      messageId: "m1",
      digest: "0".repeat(64),
      text: "x",
      principal: "o",
    } as const;
    const input = { kind: "mail", seq: 1, origin: "in", at: 1, mail, cut: false } as const;
    const { publish = [] } = session.actor.onPoison(session.fields, input, "why", 3_000);
    expect(publish.map((effect) => effect.subject)).toEqual(["dead.mail.http.a"]);
  });
});
