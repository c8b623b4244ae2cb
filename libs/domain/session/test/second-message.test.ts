import { describe, expect, test } from "vitest";
import { SessionDriver } from "./session-driver.js";

describe("a second message", () => {
  test("queue: it waits for its own turn, in order", () => {
    const session = new SessionDriver();
    const turns = ["m1", "m2", "m3"].map((id) => session.user(id));
    for (const id of ["a1", "a2", "a3"]) session.answer(id);
    expect(session.finals.map((final) => [final.turn, final.text])).toEqual(
      turns.map((turn, i) => [turn, `a${i + 1}`]),
    );
    expect(session.roles).toBe("user assistant user assistant user assistant");
  });

  test("steer: the running turn takes it in at its next step and answers for it", () => {
    const session = new SessionDriver({ secondMessage: "steer" });
    const first = session.user("m1");
    session.answer("", [{ id: "a", name: "now" }]);
    const second = session.user("m2");
    session.end("tool", { kind: "tool", result: { content: "t", isError: false } });
    expect(session.finalOf(second)).toMatchObject({ kind: "merged", mergedInto: first });
    session.answer("both");
    expect(session.finalOf(first)?.text).toBe("both");
    expect(session.roles).toBe("user assistant tool user assistant");
  });

  test("steer: an answer that did not know of it is not the last word", () => {
    const session = new SessionDriver({ secondMessage: "steer" });
    const first = session.user("m1");
    const second = session.user("m2");
    session.answer("only the first");
    expect(session.finalOf(first)).toBeUndefined();
    session.answer("both");
    expect(session.finalOf(second)?.kind).toBe("merged");
    expect(session.finalOf(first)?.text).toBe("both");
    expect(session.roles).toBe("user assistant user assistant");
  });

  test("steer: what the turn failed to take in gets a turn of its own", () => {
    const session = new SessionDriver({ secondMessage: "steer" });
    session.user("m1");
    const second = session.user("m2");
    session.end("infer", { kind: "deadline" });
    session.answer("late");
    expect(session.finalOf(second)).toMatchObject({ kind: "answer", text: "late" });
  });

  test("steer: an answer that used up the tokens is the answer, not an error", () => {
    const session = new SessionDriver({ secondMessage: "steer" });
    const first = session.user("m1");
    const second = session.user("m2");
    session.answer("the answer", [], 20_000);
    expect(session.finalOf(first)?.text).toBe("the answer");
    session.answer("and the other");
    expect(session.finalOf(second)?.text).toBe("and the other");
  });

  test("interrupt: the running turn ends as cancelled, and it begins", () => {
    const session = new SessionDriver({ secondMessage: "interrupt" });
    const first = session.user("m1");
    session.answer("", [{ id: "a", name: "now" }]);
    const second = session.user("m2");
    expect(session.finalOf(first)?.kind).toBe("cancelled");
    expect(session.runs.map((run) => run.ref)).toEqual(["patience", "infer"]);
    session.answer("second");
    expect(session.finalOf(second)?.text).toBe("second");
    expect(session.roles).toBe("user assistant tool user assistant");
  });

  test("the same client id again changes nothing, whatever became of it", () => {
    const session = new SessionDriver();
    session.user("m1");
    session.user("m1");
    session.answer("once");
    session.user("m1");
    expect(session.finals).toHaveLength(1);
    expect(session.roles).toBe("user assistant");
  });
});

describe("control", () => {
  test("cancel ends the running turn and all that wait, and closes what is open", () => {
    const session = new SessionDriver();
    const turns = ["m1", "m2"].map((id) => session.user(id));
    session.answer("", [{ id: "a", name: "now" }]);
    session.control("cancel");
    expect(turns.map((turn) => session.finalOf(turn)?.kind)).toEqual(["cancelled", "cancelled"]);
    expect(session.roles).toBe("user assistant tool");
    expect(session.runs).toEqual([]);
    expect(session.fields.controls.at(-1)).toMatchObject({ turn: turns[0] });
  });

  test("a message that a cancel overtook gets its final and starts nothing", () => {
    const session = new SessionDriver();
    const turn = session.user("m1", "late", { cut: true });
    expect(session.finalOf(turn)?.kind).toBe("cancelled");
    expect(session.fields).toMatchObject({ turn: null, messageCount: 0 });
  });

  test("reset begins anew: the generation rises, the log is empty, client ids are remembered", () => {
    const session = new SessionDriver();
    session.user("m1");
    session.answer("a1");
    const second = session.user("m2");
    session.control("reset");
    expect(session.finalOf(second)?.kind).toBe("cancelled");
    expect(session.fields).toMatchObject({ generation: 1, messageCount: 0, turn: null, erased: false });
    session.user("m1");
    expect(session.fields.turn).toBeNull();
    session.user("m3");
    session.answer("a3");
    expect(session.finals.at(-1)).toMatchObject({ text: "a3", index: 1 });
  });

  test("a message that an erase overtook does not bring the session back, and leaves nothing in it", () => {
    const session = new SessionDriver();
    session.user("m1");
    session.control("erase");
    const turn = session.user("m2", "late", { cut: true });
    expect(session.finalOf(turn)?.kind).toBe("cancelled");
    expect(session.fields).toMatchObject({ erased: true, recent: [] });
  });

  test("erase forgets the content, and the next message makes the session known again", () => {
    const session = new SessionDriver();
    session.user("m1", "private");
    session.answer("private too");
    session.control("erase");
    expect(session.fields).toMatchObject({ erased: true, messageCount: 0, recent: [] });
    expect(JSON.stringify(session.fields)).not.toContain("private");
    session.user("m2");
    expect(session.fields.erased).toBe(false);
  });

  test("waits in the mailbox while as many wait as may, however short or long they are", () => {
    const session = new SessionDriver();
    session.user("m0");
    for (let n = 1; n <= 31; n += 1) session.user(`m${n}`, "x".repeat(n % 2 === 0 ? 1 : 100_000));
    expect(session.actor.full(session.fields)).toBe(false);
    session.user("m32");
    expect(session.actor.full(session.fields)).toBe(true);
    session.answer("a0");
    expect(session.actor.full(session.fields), "nothing else would wake it").toBe(false);
  });
});
