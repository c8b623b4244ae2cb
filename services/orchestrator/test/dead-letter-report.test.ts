import { deadSubject, outboxSubject, type SessionKey } from "@troupe/contracts";
import { createLogger, createMetrics } from "@troupe/platform";
import { expect, test, vi } from "vitest";
import { kernelObserver, orchestratorMetrics } from "../src/orchestrator-metrics.js";

const KEY = "http.a=20b" as SessionKey;

test("what is given up on is counted, and a warning names the session and the command that shows it", async () => {
  const metrics = createMetrics("test");
  const log = createLogger({ service: "test", level: "silent" });
  const warn = vi.spyOn(log, "warn");
  const observe = kernelObserver(orchestratorMetrics(metrics), log, { refused: () => undefined });
  const letter = { v: 1, kind: "mail", subject: "mail.session.http.a=20b.in", seq: 1, reason: "no JSON", body: "{" };
  const publish = { kind: "publish", id: "x", bell: 1 } as const;
  const published = { kind: "point", point: "published", key: KEY } as const;
  observe({ ...published, effect: { ...publish, subject: deadSubject("mail", KEY), body: { ...letter, id: "x" } } });
  observe({ ...published, effect: { ...publish, subject: outboxSubject(KEY), body: {} } });
  expect(warn.mock.calls).toEqual([
    [{ session: "http:a b", reason: "no JSON" }, expect.stringContaining("troupe dead list")],
  ]);
  expect(await metrics.text()).toMatch(/troupe_dead_letters_total\{kind="mail",service="test"\} 1/);
});
