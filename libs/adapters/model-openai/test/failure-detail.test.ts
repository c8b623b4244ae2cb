import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { createOpenAiModel } from "../src/index.js";
import { apiKey, failureOf, hello, type Rig, startRig, status, watchRejections } from "./model-fixture.js";

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(() => rig.server.close());

const rejections = watchRejections();
afterAll(() => expect(rejections()).toEqual([]));

describe("the API key stays out of the detail", () => {
  test("when the provider quotes it", async () => {
    const failure = await failureOf(rig, status(401, { error: { message: `Incorrect API key provided: ${apiKey}.` } }));
    expect(failure.detail).toContain("Incorrect API key provided");
  });

  test("when an error page echoes the request's headers", async () => {
    await failureOf(rig, (request, respond) => respond.status(500, `headers: ${request.headers.authorization}`));
  });

  test("when it is inside a broken chunk", async () => {
    await failureOf(rig, (_request, respond) => respond.bytes([`data: {"key": "${apiKey}"\n\n`]));
  });

  test("when no header can be made of it", async () => {
    const odd = "sk-odd\nkey";
    const model = createOpenAiModel({ baseUrl: rig.server.url, apiKey: odd });
    const outcome = await model.complete(hello, {
      signal: new AbortController().signal,
      onText: () => {},
    });
    expect(outcome).toMatchObject({ kind: "failed", code: "refused", retryable: false });
    expect(JSON.stringify(outcome)).not.toMatch(/sk-odd/);
  });

  test("nor do credentials of the base URL get there", async () => {
    const baseUrl = rig.server.url.replace("http://", "http://user:hunter2@");
    const model = createOpenAiModel({ baseUrl, apiKey });
    rig.server.reply(status(500, "no"));
    const outcome = await model.complete(hello, {
      signal: new AbortController().signal,
      onText: () => {},
    });
    expect(outcome.kind).toBe("failed");
    expect(JSON.stringify(outcome)).not.toContain("hunter2");
  });
});
