import { describe, expect, it } from "vitest";
import { readLogLine, showLogLine } from "../src/log-line.js";

describe("readLogLine", () => {
  it.each([
    [
      '{"level":"warn","time":"2026-01-01T00:00:00Z","service":"orchestrator","pid":7,"msg":"the key is refused","provider":"openai","status":401}',
      { level: "warn", text: "the key is refused provider=openai status=401" },
    ],
    [
      '{"level":50,"msg":"could not deliver","err":{"type":"Error","message":"closed","stack":"Error: closed\\n at x"}}',
      { level: "error", text: "could not deliver (closed)" },
    ],
    ["[77] 2026/11/30 11:00:00.000000 [INF] Server is ready", { level: "debug", text: "Server is ready" }],
    [
      "[77] 2026/11/30 11:00:00.000000 [ERR] no space left on device",
      { level: "error", text: "no space left on device" },
    ],
    [
      "[77] 2026/11/30 11:00:00.000000 [WRN] Plaintext passwords detected, use nkeys or bcrypt",
      { level: "debug", text: "Plaintext passwords detected, use nkeys or bcrypt" },
    ],
    ["Segmentation fault", { level: "info", text: "Segmentation fault" }],
    ['{"broken', { level: "info", text: '{"broken' }],
    ["{}", { level: "info", text: "" }],
  ])("reads %s", (line, expected) => {
    expect(readLogLine(line)).toEqual(expected);
  });
});

describe("showLogLine", () => {
  it("shows time and name, and the level when it is unusual", () => {
    const at = new Date(2026, 0, 2, 3, 4, 5);
    expect(showLogLine("worker", { level: "info", text: "ready" }, at)).toBe("03:04:05 worker        ready");
    expect(showLogLine("gateway-http", { level: "warn", text: "slow" }, at)).toBe("03:04:05 gateway-http  warn: slow");
  });
});
