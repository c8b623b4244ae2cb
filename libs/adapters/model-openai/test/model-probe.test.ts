import { type ScriptedModel, startScriptedModel } from "@troupe/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { probeModel } from "../src/index.js";

const apiKey = "sk-test-4711-secret";
let server: ScriptedModel;
beforeEach(async () => {
  server = await startScriptedModel();
});
afterEach(() => server.close());

describe("a probe", () => {
  test("names the models", async () => {
    server.models((request, respond) => {
      expect(request.headers.authorization).toBe(`Bearer ${apiKey}`);
      respond.status(200, { object: "list", data: [{ id: "a" }, { id: "b", owned_by: "x" }] });
    });
    expect(await probeModel({ baseUrl: server.url, apiKey })).toEqual({
      kind: "ok",
      models: ["a", "b"],
    });
  });

  test.each([
    [401, { error: { message: `wrong key ${apiKey}` } }, "unauthorized"],
    [403, "", "unauthorized"],
    [404, "", "unsupported"],
    [405, "", "unsupported"],
    [503, { error: { message: "loading" } }, "unreachable"],
    [200, "<html></html>", "unsupported"],
    [200, { models: [] }, "unsupported"],
  ])("status %i with %j is %s", async (code, body, kind) => {
    server.models((_request, respond) => respond.status(code, body));
    const probe = await probeModel({ baseUrl: server.url, apiKey });
    expect(probe.kind).toBe(kind);
    expect(JSON.stringify(probe)).not.toContain(apiKey);
  });

  test("finds nobody", async () => {
    await server.close();
    expect(await probeModel({ baseUrl: server.url, apiKey })).toMatchObject({
      kind: "unreachable",
    });
    expect(await probeModel({ baseUrl: "not a url", apiKey })).toMatchObject({
      kind: "unreachable",
    });
    server = await startScriptedModel();
  });

  test("does not wait long", async () => {
    server.models(() => {});
    const probe = await probeModel({ baseUrl: server.url, apiKey, timeoutMs: 100 });
    expect(probe).toEqual({ kind: "unreachable", detail: "no answer within 100 ms" });
  });
});
