import { describe, expect, it, onTestFinished } from "vitest";
import { FixtureProcess } from "./fixture-process.js";

const parts = (...plans: object[]): Record<string, string> => ({
  FIXTURE_PARTS: JSON.stringify(plans),
});

function start(...how: ConstructorParameters<typeof FixtureProcess>): FixtureProcess {
  const service = new FixtureProcess(...how);
  onTestFinished(() => void service.child.kill("SIGKILL"));
  return service;
}

describe("start and drain", () => {
  it.each(["SIGTERM", "SIGINT"] as const)("opens in order and on %s closes in reverse, exit 0", async (signal) => {
    const service = start("service", parts({ name: "a" }, { name: "b" }, { name: "c" }));
    await service.logged("ready");
    service.child.kill(signal);
    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(service.messages).toEqual([
      ..."abc".split("").map((name) => `opening ${name}`),
      "ready",
      "draining",
      ..."cba".split("").flatMap((name) => [`closing ${name}`, `closed ${name}`]),
      "stopped",
    ]);
    expect(service.stderr).toBe("");
  });

  it("tells a parent with an IPC channel when it is ready", async () => {
    const service = start("service", {}, { stdio: ["ignore", "pipe", "pipe", "ipc"] });
    const message = await new Promise((resolve) => service.child.once("message", resolve));
    expect(message).toEqual({ ready: true });
    service.child.kill("SIGTERM");
    expect((await service.exited).code).toBe(0);
  });

  it("stays until it is asked to end, even when no part holds a socket", async () => {
    const service = start("service", { FIXTURE_THEN: "idle" });
    await service.until(() => service.stderr === "still here\n");
    service.child.kill("SIGTERM");
    expect((await service.exited).code).toBe(0);
    expect(service.messages.at(-1)).toBe("stopped");
  });

  it("gives up on a part that hangs after the limit, exit 1, and names it", async () => {
    const service = start("service", {
      ...parts({ name: "a" }, { name: "stuck", close: "hang" }),
      FIXTURE_LIMIT_MS: "300",
    });
    await service.logged("ready");
    service.child.kill("SIGTERM");
    expect((await service.exited).code).toBe(1);
    expect(service.stderr).toBe("fixture: not drained within 300 ms, given up during: stop of stuck\n");
  });

  it("gives up on a part that hangs while opening, and names it", async () => {
    const service = start("service", {
      ...parts({ name: "stuck", open: "hang" }),
      FIXTURE_LIMIT_MS: "300",
    });
    await service.logged("opening stuck");
    service.child.kill("SIGTERM");
    expect((await service.exited).code).toBe(1);
    expect(service.stderr).toContain("during: start of stuck\n");
  });

  it("asked to end while a part hangs in its opening, closes the others and ends well", async () => {
    const service = start("service", parts({ name: "a" }, { name: "stuck", open: "hang" }));
    await service.logged("opening stuck");
    service.child.kill("SIGTERM");
    expect((await service.exited).code).toBe(0);
    expect(service.messages).toContain("closed a");
    expect(service.entries.find(({ level }) => level === "warn")).toMatchObject({
      msg: "left half open: start of stuck",
    });
  });

  it("ends at once on a second signal", async () => {
    const service = start("service", parts({ name: "stuck", close: "hang" }));
    await service.logged("ready");
    service.child.kill("SIGTERM");
    await service.logged("closing stuck");
    service.child.kill("SIGTERM");
    expect((await service.exited).code).toBe(1);
    expect(service.stderr).toBe("fixture: ended at once by a second SIGTERM, during: stop of stuck\n");
  });

  it("closes the other parts when one fails to close, exit 1", async () => {
    const service = start("service", parts({ name: "a" }, { name: "bad", close: "throw" }));
    await service.logged("ready");
    service.child.kill("SIGTERM");
    expect((await service.exited).code).toBe(1);
    expect(service.messages).toContain("closed a");
    expect(service.stderr).toBe("fixture: stop of bad failed: it broke\n");
  });
});

describe("failures", () => {
  it("says an expected reason in one line and closes what was open", async () => {
    const service = start("service", parts({ name: "a" }, { name: "b", open: "refuse" }, { name: "c" }));
    expect((await service.exited).code).toBe(1);
    expect(service.stderr).toBe("fixture: the port is taken\n");
    expect(service.messages).toEqual(["opening a", "opening b", "draining", "closing a", "closed a", "stopped"]);
  });

  it("names the part that broke in one line, and logs the stack", async () => {
    const service = start("service", parts({ name: "b", open: "throw" }));
    expect((await service.exited).code).toBe(1);
    expect(service.stderr).toBe("fixture: start of b failed: it broke\n");
    expect(JSON.stringify(service.entries)).toContain("service.ts:");
  });

  it.each([
    ["throw", "it broke"],
    ["reject", "it broke"],
    ["fail", "connection lost for good"],
  ])("after a defect (%s) logs it, drains, exit 1", async (then, message) => {
    const service = start("service", { ...parts({ name: "a" }), FIXTURE_THEN: then });
    expect((await service.exited).code).toBe(1);
    expect(service.stderr).toBe(`fixture: failed: ${message}\n`);
    expect(service.messages).toContain("closed a");
    const fatal = service.entries.find(({ level }) => level === "fatal");
    expect(fatal).toMatchObject({
      service: "fixture",
      err: { stack: expect.stringContaining("service.ts:") },
    });
  });

  it("prints every configuration problem and exits with 1", async () => {
    const service = start("service", { TROUPE_HTTP_PORT: "x", LOG_LEVEL: "loud" });
    expect((await service.exited).code).toBe(1);
    expect(service.stderr.split("\n")).toEqual([
      "fixture: configuration: 2 problems",
      "  LOG_LEVEL: expected one of: trace, debug, info, warn, error, fatal, silent",
      "  TROUPE_HTTP_PORT: expected a port number from 0 to 65535",
      "",
    ]);
    expect(service.stdout).toBe("");
  });

  it("prints the configuration without secrets and exits with 0", async () => {
    const env = {
      FIXTURE_PICK: "1",
      OPENAI_API_KEY: "sk-hidden",
      TROUPE_TOKEN: "hush",
      TROUPE_DATA: "/data",
    };
    const service = start("service", env, { args: ["--print-config"] });
    expect((await service.exited).code).toBe(0);
    expect(service.stdout).toBe(
      'provider:\n  name: openai\n  apiKey: "[redacted]"\ndataDir: /data\ntoken: "[redacted]"\n',
    );
  });

  it("goes on without a reader of its log", async () => {
    const service = start("service", { ...parts({ name: "a" }), FIXTURE_THEN: "chatter" });
    await service.logged("ready");
    service.child.stdout?.destroy();
    const ticks = (): number => Number(/tick (\d+)\n$/.exec(service.stderr)?.[1] ?? 0);
    const before = ticks();
    await service.until(() => ticks() > before + 50);
    service.child.kill("SIGTERM");
    expect((await service.exited).code).toBe(0);
  });
});

describe("under a supervisor", () => {
  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  it("drains when the supervisor is killed, and leaves no process behind", async () => {
    const supervisor = start("supervisor", parts({ name: "a" }));
    await supervisor.logged("ready");
    const pid = Number(/service is (\d+)/.exec(supervisor.stdout)?.[1]);
    onTestFinished(() => void (isAlive(pid) && process.kill(pid, "SIGKILL")));
    expect(isAlive(pid)).toBe(true);
    supervisor.child.kill("SIGKILL");
    // The service holds the same stdout: it closes when both have ended.
    expect((await supervisor.exited).signal).toBe("SIGKILL");
    expect(supervisor.messages).toContain("closed a");
    expect(supervisor.messages.at(-1)).toBe("stopped");
    expect(supervisor.entries.find(({ msg }) => msg === "draining")).toMatchObject({
      reason: "the supervisor has gone",
    });
  });

  it("leaves SIGINT to the supervisor and drains on its SIGTERM", async () => {
    const service = start("service", { TROUPE_PARENT_WATCH: "1" }, { stdio: ["pipe", "pipe", "pipe"] });
    await service.logged("ready");
    service.child.kill("SIGINT");
    service.child.kill("SIGTERM");
    expect((await service.exited).code).toBe(0);
    expect(service.entries.find(({ msg }) => msg === "draining")).toMatchObject({
      reason: "SIGTERM",
    });
  });

  it("does not mind a closed stdin when nobody supervises it", async () => {
    const service = start("service", parts({ name: "a" }));
    await service.logged("ready");
    service.child.kill("SIGTERM");
    await service.exited;
    expect(service.entries.find(({ msg }) => msg === "draining")).toMatchObject({
      reason: "SIGTERM",
    });
  });
});
