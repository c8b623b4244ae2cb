import { createLogger } from "@troupe/platform";
import { expect, it } from "vitest";
import { HttpProblem } from "../src/problem.js";
import { sessionRef } from "../src/session-access.js";
import { eraseSession } from "../src/session-erasure.js";

const log = createLogger({ service: "test", level: "silent" });
const { key } = sessionRef("a");
const erase = (forget: () => Promise<boolean>, state: () => Promise<void> = async () => {}): Promise<void> =>
  eraseSession({ forget, log }, key, state);

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
