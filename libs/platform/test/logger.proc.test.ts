import { expect, it } from "vitest";
import { FixtureProcess } from "./fixture-process.js";

async function logOf(env: Record<string, string>): Promise<FixtureProcess> {
  const service = new FixtureProcess("service", env);
  await service.until(() => service.stdout.includes("ready"));
  service.child.kill("SIGTERM");
  expect((await service.exited).code).toBe(0);
  return service;
}

it("writes one JSON object per line, with time, level, service and message", async () => {
  const { entries } = await logOf({});
  expect(entries[0]).toEqual({
    level: "info",
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    service: "fixture",
    pid: expect.any(Number),
    msg: "ready",
  });
});

it("keeps secrets out, wherever they hang", async () => {
  const { stdout, entries } = await logOf({ FIXTURE_THEN: "secrets" });
  expect(stdout).not.toContain("hunter2");
  expect(entries[0]).toMatchObject({ msg: "Bearer [redacted]", port: 7070, apiKey: "[redacted]" });
  expect(entries[1]).toMatchObject({
    msg: "with an error",
    token: "[redacted]",
    user: { pass: "[redacted]" },
    err: { message: "lost nats://[redacted]@h", headers: { authorization: "[redacted]" } },
  });
  expect(entries[2]).toMatchObject({ msg: "lost nats://[redacted]@h" });
});

it("is quieter at a higher LOG_LEVEL", async () => {
  const service = new FixtureProcess("service", { FIXTURE_THEN: "fail", LOG_LEVEL: "error" });
  await service.exited;
  expect(service.entries.map(({ level }) => level)).toEqual(["fatal"]);
});

it("writes lines for people with TROUPE_LOG=pretty, without secrets too", async () => {
  const { stdout } = await logOf({ FIXTURE_THEN: "secrets", TROUPE_LOG: "pretty" });
  expect(stdout).not.toContain("hunter2");
  const lines = stdout.trimEnd().split("\n");
  expect(lines.map((line) => line.replace(/^[\d:.]{12} /, ""))).toEqual([
    'INFO  fixture Bearer [redacted] request={"headers":{"cookie":"[redacted]"}} apiKey=[redacted] port=7070',
    'ERROR fixture with an error token=[redacted] user={"pass":"[redacted]"} detail=["https://[redacted]@h/x"] error="lost nats://[redacted]@h"',
    "ERROR fixture lost nats://[redacted]@h",
    "INFO  fixture ready",
    "INFO  fixture draining reason=SIGTERM",
    "INFO  fixture stopped",
  ]);
});
