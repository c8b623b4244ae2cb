import { StreamFull, TooLarge, Unavailable } from "@troupe/jetstream";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { fieldProblem, HttpProblem, problemDocument } from "../src/problem.js";
import { defect, problemOf } from "../src/problem-mapping.js";

describe("problemDocument", () => {
  it("follows RFC 9457 and leaves out what is not there", () => {
    expect(problemDocument(new HttpProblem(404, "unknown_session", "there is no session x"))).toEqual({
      type: "about:blank",
      title: "Not Found",
      status: 404,
      detail: "there is no session x",
      code: "unknown_session",
    });
  });

  it("names every field that is wrong, unknown ones each for itself, and no value", () => {
    const schema = z.strictObject({ text: z.string(), list: z.array(z.strictObject({ n: z.number() })) });
    const result = schema.safeParse({ text: 5, list: [{ n: "secret", more: 1 }], a: 1, b: 2 });
    const document = problemDocument(fieldProblem(result.error ?? new z.ZodError([])));
    expect(document).toMatchObject({ status: 422, code: "invalid_field" });
    expect(document.errors?.map(({ path }) => path)).toEqual(["text", "list.0.n", "list.0.more", "a", "b"]);
    expect(JSON.stringify(document)).not.toContain("secret");
  });
});

describe("a problem of many fields", () => {
  it("names the first of them, so that the answer is not longer than what was sent", () => {
    const sent = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`${"long ".repeat(100)}${n}`, 1]));
    const result = z.strictObject({}).safeParse(sent);
    const text = JSON.stringify(problemDocument(fieldProblem(result.error ?? new z.ZodError([]))));
    expect(text.length).toBeLessThan(8_000);
    expect(JSON.parse(text).errors[0]).toEqual({ path: expect.stringMatching(/^long /), message: "unknown field" });
  });
});

describe("problemOf", () => {
  it.each([
    ["a full stream", new StreamFull("MAIL"), 503, "overloaded"],
    ["an unreachable server", new Unavailable("no answer"), 503, "unavailable"],
    ["a read without an answer", Object.assign(new Error("x"), { name: "WireError" }), 503, "unavailable"],
    ["a message over the limit", new TooLarge(1024), 413, "too_large"],
  ])("%s", (_what, error, status, code) => {
    const problem = problemOf(error);
    expect(problem).toMatchObject({ status, code });
    if (status === 503) expect(Number(problem?.headers["retry-after"])).toBeGreaterThanOrEqual(1);
  });

  it("does not pass a framework's words or a defect's details on", () => {
    const strange = Object.assign(new Error("inner detail"), { statusCode: 431, code: "FST_X" });
    expect(problemOf(strange)).toMatchObject({ status: 431, message: "the request could not be read" });
    expect(problemOf(new TypeError("x is not a function"))).toBeUndefined();
    expect(problemDocument(defect(new TypeError("x is not a function"))).detail).not.toContain("function");
  });

  it("rounds Retry-After up to whole seconds", () => {
    const headers = (retryAfterMs: number) => new HttpProblem(503, "x", "y", { retryAfterMs }).headers["retry-after"];
    expect([headers(1), headers(1_000), headers(1_001)]).toEqual(["1", "1", "2"]);
  });
});
