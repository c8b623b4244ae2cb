import { expect, it } from "vitest";
import { redact } from "../src/index.js";

it("hides what is secret by name, at any depth and in any spelling", () => {
  const hidden = "hunter2";
  const value = {
    token: hidden,
    headers: { Authorization: hidden, "set-cookie": [hidden], "x-api-key": hidden },
    list: [{ nats: { pass: hidden, password: { inner: hidden } } }],
    apiKey: hidden,
    secret: hidden,
  };
  expect(JSON.stringify(redact(value))).not.toContain(hidden);
});

it("leaves everything else as it is", () => {
  const value = {
    maxTokens: 5,
    tokens: [1],
    creds: "/a/path",
    keepTail: null,
    token: null,
    at: new Date(0),
  };
  expect(redact(value)).toEqual(value);
});

it("takes logins and bearer tokens out of text", () => {
  expect(redact("cannot reach nats://joe:hunter2@host:4222, tried https://h/a@b")).toBe(
    "cannot reach nats://[redacted]@host:4222, tried https://h/a@b",
  );
  expect(redact(["sent Authorization: Bearer abc.def-1="])).toEqual(["sent Authorization: Bearer [redacted]"]);
});

it("ends in a cycle", () => {
  const loop: Record<string, unknown> = { name: "loop" };
  loop.self = loop;
  expect(() => JSON.stringify(redact(loop))).not.toThrow();
});
