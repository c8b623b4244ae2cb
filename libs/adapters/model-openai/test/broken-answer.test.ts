import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { failureOf, type Rig, startRig, status, watchRejections } from "./model-fixture.js";

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(() => rig.server.close());

const rejections = watchRejections();
afterAll(() => expect(rejections()).toEqual([]));

describe("an error inside the stream", () => {
  test.each([
    [{ error: { message: "boom", type: "server_error" } }, "server_error", true],
    [{ error: { message: "slow down", code: 429 } }, "rate_limited", true],
    [{ error: { message: "busy", type: "overloaded_error" } }, "overloaded", true],
    [{ error: { message: "no", type: "invalid_request_error" } }, "refused", false],
    [
      {
        error: {
          message: "prompt is too long: 9 tokens > 8 maximum",
          type: "invalid_request_error",
        },
      },
      "context_too_long",
      false,
    ],
    [{ error: "boom" }, "server_error", true],
    [{ object: "error", message: "boom", code: 503 }, "overloaded", true],
    [
      {
        choices: [{ delta: { content: "" }, finish_reason: "error", error: { code: 502, message: "boom" } }],
      },
      "server_error",
      true,
    ],
  ])("%j", async (event, code, retryable) => {
    const failure = await failureOf(rig, (_request, respond) => {
      const stream = respond.stream();
      stream.text("half an ans");
      stream.event(event);
      stream.done();
    });
    expect(failure).toMatchObject({ code, retryable });
  });

  test("as an event of type error", async () => {
    const failure = await failureOf(rig, (_request, respond) =>
      respond.bytes(['event: error\ndata: {"message":"boom","code":429}\n\n']),
    );
    expect(failure).toMatchObject({ code: "rate_limited", retryable: true });
    expect(failure.detail).toContain("boom");
  });

  test("and in a whole body of status 200", async () => {
    const failure = await failureOf(rig, status(200, { error: { message: "boom", code: 503 } }));
    expect(failure).toMatchObject({ code: "overloaded", retryable: true });
  });
});

describe("a broken answer", () => {
  test("cut in the middle by a dropped connection", async () => {
    expect(await failureOf(rig, (_request, respond) => respond.cut("half"))).toMatchObject({
      code: "cut",
      retryable: true,
    });
  });

  test("ended in good order but without finish reason and [DONE]", async () => {
    const failure = await failureOf(rig, (_request, respond) => {
      const stream = respond.stream();
      stream.text("half");
      stream.end();
    });
    expect(failure).toMatchObject({ code: "cut", retryable: true });
  });

  test("an empty stream", async () => {
    expect(await failureOf(rig, (_request, respond) => respond.bytes([]))).toMatchObject({
      code: "cut",
    });
  });

  test("dropped after the finish reason is an answer all the same", async () => {
    rig.server.enqueue((_request, respond) => {
      const stream = respond.stream();
      stream.text("whole");
      stream.finish("stop");
      stream.raw('data: {"cho');
      setImmediate(() => stream.cut());
    });
    expect((await rig.call()).outcome).toMatchObject({
      kind: "answer",
      text: "whole",
      finish: "stop",
    });
  });

  test("a connection dropped before any answer", async () => {
    expect(await failureOf(rig, (_request, respond) => respond.hangUp())).toMatchObject({
      code: "cut",
      retryable: true,
    });
  });

  test("a chunk that is no JSON", async () => {
    const failure = await failureOf(rig, (_request, respond) => respond.brokenChunk());
    expect(failure).toMatchObject({ code: "malformed", retryable: true });
  });

  test("a chunk of another shape", async () => {
    const failure = await failureOf(rig, (_request, respond) => respond.bytes(['data: {"choices":"none"}\n\n']));
    expect(failure).toMatchObject({ code: "malformed", retryable: true });
    expect(failure.detail).toContain("choices");
  });

  test.each([
    ["a web page", "text/html; charset=utf-8", "<html></html>"],
    ["lines of another protocol", "application/x-ndjson", '{"done":true}\n'],
  ])("%s with status 200 is malformed and not asked again", async (_name, type, body) => {
    const failure = await failureOf(rig, status(200, body, { "content-type": type }));
    expect(failure).toMatchObject({ code: "malformed", retryable: false });
  });

  test.each([["{}"], ['{"choices":[]}'], ['{"choices"']])("a whole body %s is malformed", async (body) => {
    const failure = await failureOf(rig, status(200, body, { "content-type": "application/json" }));
    expect(failure.code).toBe("malformed");
  });
});
