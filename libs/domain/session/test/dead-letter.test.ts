import { DeadLetter, digestOf, OutboxMessage, turnIdOf } from "@troupe/contracts";
import { describe, expect, test } from "vitest";
import { KEY, SessionDriver } from "./session-driver.js";

const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;

/** K11: mail that is given up on, of any size, leaves room for the final of whoever waits. */
describe("a dead letter", () => {
  test.each([
    ["Latin letters", "x".repeat(1_000_000)],
    ["Chinese", "中".repeat(340_000)],
    ["halves of pairs", "😀".repeat(250_000)],
    ["NUL", "\0".repeat(900_000)],
  ])("of a megabyte of %s fits into a commit, beside the final", (_what, text) => {
    const { actor, fields } = new SessionDriver();
    const turn = turnIdOf(KEY, "m1");
    const head = { v: 1, id: "m1", kind: "user", turn, messageId: "m1", principal: "owner" } as const;
    const mail = { ...head, text, digest: digestOf(text) };
    const input = { kind: "mail", seq: 1, origin: "in", at: 1, mail, cut: false } as const;
    const { publish = [] } = actor.onPoison(fields, input, "too large", 1);
    const bodies = publish.map(({ body }, n) => ({ ...body, id: `x${n}` }));
    expect(bytesOf(bodies)).toBeLessThan(256 * 1024);
    expect(OutboxMessage.parse(bodies[1])).toMatchObject({ kind: "final", final: { turn, kind: "error" } });
    const letter = DeadLetter.parse(bodies[0]);
    expect(letter.truncated).toBe(true);
    expect(letter.reason).toMatch(/^too large \(kept: \d+ of \d+ characters\)$/);
    expect(JSON.stringify(mail).startsWith(letter.body.slice(0, -1))).toBe(true);
  });

  test("of a usual size holds the whole of the body", () => {
    const { actor } = new SessionDriver();
    const item = { seq: 1, origin: "in", at: 1, text: '{"a":'.repeat(5_000) } as const;
    const { body } = actor.deadLetter(item, "no JSON");
    expect(body).toMatchObject({ reason: "no JSON", body: item.text });
    expect(body).not.toHaveProperty("truncated");
  });
});
