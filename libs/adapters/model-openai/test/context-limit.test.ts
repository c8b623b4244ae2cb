import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { failureOf, type Rig, startRig, status, watchRejections } from "./model-fixture.js";

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(() => rig.server.close());

const rejections = watchRejections();
afterAll(() => expect(rejections()).toEqual([]));

describe("a request too long for the model is recognised", () => {
  test.each([
    [
      400,
      {
        error: {
          message: "too long",
          code: "context_length_exceeded",
          type: "invalid_request_error",
        },
      },
    ],
    [
      400,
      {
        object: "error",
        message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
        code: 400,
      },
    ],
    [
      400,
      {
        error: {
          message: "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
        },
      },
    ],
    [
      400,
      {
        error: {
          code: 400,
          message: "the request exceeds the available context size",
          type: "exceed_context_size_error",
        },
      },
    ],
    [
      500,
      {
        error: {
          code: 500,
          message: "the request exceeds the available context size. try increasing it",
        },
      },
    ],
    [
      400,
      {
        type: "error",
        error: {
          type: "invalid_request_error",
          message: "prompt is too long: 210000 tokens > 200000 maximum",
        },
      },
    ],
    [
      400,
      {
        error: {
          message: "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000",
        },
      },
    ],
    [
      413,
      {
        type: "error",
        error: { type: "request_too_large", message: "Request exceeds the maximum size" },
      },
    ],
    [
      400,
      {
        error: {
          message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        },
      },
    ],
    [
      400,
      {
        error: {
          message: "This model's maximum prompt length is 131072 but the request contains 150000 tokens.",
        },
      },
    ],
    [
      422,
      {
        error: "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000",
      },
    ],
    [400, { error: { message: "Your request exceeded model token limit: 8192" } }],
    [400, { error: { message: "Input is too long for requested model." } }],
    [400, { error: { message: "Your input exceeds the context window of this model." } }],
    [
      429,
      {
        error: {
          message: "Request too large for m-1 on tokens per min (TPM): Limit 10000, Requested 12000",
          code: "rate_limit_exceeded",
        },
      },
    ],
  ])("%i %j", async (code, body) => {
    expect(await failureOf(rig, status(code, body))).toMatchObject({
      code: "context_too_long",
      retryable: false,
    });
  });

  test("but not in what only sounds like it", async () => {
    const limit = {
      error: {
        message: "Rate limit reached on tokens per min. Reduce the length of the messages.",
      },
    };
    expect((await failureOf(rig, status(429, limit))).code).toBe("rate_limited");
  });
});
