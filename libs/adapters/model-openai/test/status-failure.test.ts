import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { failureOf, type Rig, startRig, status, watchRejections } from "./model-fixture.js";

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(() => rig.server.close());

const rejections = watchRejections();
afterAll(() => expect(rejections()).toEqual([]));

describe("a status", () => {
  test.each([
    [400, "refused", false],
    [401, "unauthorized", false],
    [403, "unauthorized", false],
    [404, "refused", false],
    [408, "server_error", true],
    [409, "refused", false],
    [413, "context_too_long", false],
    [422, "refused", false],
    [429, "rate_limited", true],
    [500, "server_error", true],
    [501, "server_error", false],
    [502, "server_error", true],
    [503, "overloaded", true],
    [529, "overloaded", true],
  ])("%i is %s, retryable %s, and asked once", async (code, expected, retryable) => {
    const failure = await failureOf(rig, status(code, { error: { message: "because" } }));
    expect(failure).toMatchObject({ code: expected, retryable });
    expect(failure.detail).toContain(`HTTP ${code}: because`);
  });

  test("429 for a spent quota is not retryable", async () => {
    const body = {
      error: {
        message: "You exceeded your quota",
        type: "insufficient_quota",
        code: "insufficient_quota",
      },
    };
    expect(await failureOf(rig, status(429, body))).toMatchObject({
      code: "rate_limited",
      retryable: false,
    });
  });

  test.each([
    [{ "retry-after": "7" }, 7_000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": new Date(0).toUTCString() }, 0],
    [{}, undefined],
  ])("Retry-After %j is %s ms", async (headers, expected) => {
    expect((await failureOf(rig, status(429, "slow down", headers))).retryAfterMs).toBe(expected);
  });

  test("Retry-After as an HTTP date is the time until then", async () => {
    const date = new Date(Date.now() + 60_000).toUTCString();
    const { retryAfterMs } = await failureOf(rig, status(503, "", { "retry-after": date }));
    expect(retryAfterMs).toBeGreaterThan(50_000);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  test.each([
    ["a web page", "<html><body>Bad gateway</body></html>"],
    ["a plain line", "Bad gateway"],
    ["an error that is a string", { error: "Bad gateway" }],
    ["a detail field", { detail: "Bad gateway" }],
    ["a flat error object", { object: "error", message: "Bad gateway", type: "X", code: 502 }],
    ["an array", [{ error: { message: "Bad gateway" } }]],
  ])("with %s keeps its words for the operator", async (_name, body) => {
    const failure = await failureOf(rig, status(502, body));
    expect(failure.code).toBe("server_error");
    expect(failure.detail).toContain("Bad gateway");
  });

  test("with a huge body gives one short line", async () => {
    const { detail } = await failureOf(rig, status(500, `line\n${"x".repeat(50_000)}`));
    expect(detail.length).toBeLessThan(700);
    expect(detail).not.toContain("\n");
  });
});
