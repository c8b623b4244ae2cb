import { createLogger } from "@troupe/platform";
import { describe, expect, it } from "vitest";
import { HttpProblem } from "../src/problem.js";
import { sessionRef } from "../src/session-access.js";
import { eraseSession, owes } from "../src/session-erasure.js";

const log = createLogger({ service: "test", level: "silent" });
const { key } = sessionRef("a");
const erase = (forget: () => Promise<boolean>, state: () => Promise<void> = async () => {}): Promise<void> =>
  eraseSession({ forget, log }, key, { erase: state, isGone: () => false });

const unknown = (): Promise<void> => Promise.reject(new HttpProblem(404, "unknown_session", "none"));

it("asks for a repetition when something may be left, also when the state was erased before", async () => {
  const failing = (): Promise<boolean> => Promise.reject(new Error("no leader"));
  for (const state of [undefined, unknown]) {
    await expect(erase(failing, state)).rejects.toMatchObject({
      status: 503,
      headers: { "retry-after": "2" },
    });
  }
});

it("is done when the state is erased, and says that a session is unknown only when nothing of it was left", async () => {
  await erase(async () => false);
  await erase(async () => true, unknown);
  await expect(erase(async () => false, unknown)).rejects.toMatchObject({ status: 404 });
});

it("removes nothing any more for a client that has left: it may speak again already", async () => {
  let [left, forgotten] = [false, false];
  const leave = async (): Promise<void> => void (left = true);
  const forget = async (): Promise<boolean> => (forgotten = true);
  const erasing = eraseSession({ forget, log }, key, { erase: leave, isGone: () => left });
  await expect(erasing).rejects.toMatchObject({ status: 503 });
  expect(forgotten).toBe(false);
});

it("removes nothing of a session whose state was not erased", async () => {
  let forgotten = false;
  const forget = async (): Promise<boolean> => {
    forgotten = true;
    return true;
  };
  const failing = (): Promise<void> => Promise.reject(new HttpProblem(503, "no_orchestrator", "none"));
  await expect(erase(forget, failing)).rejects.toMatchObject({ status: 503, code: "no_orchestrator" });
  expect(forgotten).toBe(false);
});

describe("a state owes something to people", () => {
  const entry = (erased: boolean, listed: object[]): string =>
    JSON.stringify({ outstanding: listed, fields: { erased, generation: 3 } });
  const listed = (subject: string, generation: number) => ({ kind: "publish", subject, body: { generation } });
  const outbox = "outbox.http.a";

  it.each<[string, boolean, object[], boolean]>([
    ["not when it lists nothing", true, [], false],
    ["while it lists the final of what was erased", true, [listed(outbox, 2)], true],
    ["while it lists the final of a message that the erasure overtook", true, [listed(outbox, 3)], true],
    ["while a new conversation begins and an old final is still listed", false, [listed(outbox, 2)], true],
    ["not when only a new conversation has something to say", false, [listed(outbox, 3)], false],
    ["not when it lists a run, or what no person reads", true, [{ kind: "run" }, listed("dead.mail.http.a", 2)], false],
  ])("%s", (_when, erased, effects, expected) => {
    expect(owes(key, entry(erased, effects))).toBe(expected);
  });
});
