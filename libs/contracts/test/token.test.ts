import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeToken, encodeToken, MAX_TOKEN_LENGTH, parseSessionId, sessionOfKey } from "../src/index.js";

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 });

test("T1, T3: any text comes back from its token, and the token is safe", () => {
  fc.assert(
    fc.property(text, (value) => {
      const encoded = encodeToken(value);
      if (!encoded.ok) return value.length > 10;
      expect(encoded.token).toMatch(/^[A-Za-z0-9_=-]+$/);
      expect(decodeToken(encoded.token)).toBe(value);
      return true;
    }),
  );
});

test("T2: texts that differ have tokens that differ, and a token has one spelling", () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      const [one, other] = [encodeToken(a), encodeToken(b)];
      if (one.ok && other.ok) expect(one.token === other.token).toBe(a === b);
    }),
  );
  expect(decodeToken("=61")).toBeUndefined();
  expect(decodeToken("=e4=b8=ad")).toBeUndefined();
  expect(decodeToken("=FF")).toBeUndefined();
  expect(decodeToken("a.b")).toBeUndefined();
  expect(decodeToken("")).toBeUndefined();
});

test.each([
  ["", "empty"],
  ["\ud800", "well-formed"],
  ["a\udc00b", "well-formed"],
  ["x".repeat(MAX_TOKEN_LENGTH + 1), "too long"],
])("text that is no name is refused with the reason: %j", (value, reason) => {
  const encoded = encodeToken(value);
  expect(encoded.ok).toBe(false);
  expect(encoded.ok ? "" : encoded.reason).toContain(reason);
});

test.each([
  ["telegram:42", "telegram.42", "telegram:42"],
  ["telegram/42", "http.telegram=2F42", "http:telegram/42"],
  ["a.b c", "http.a=2Eb=20c", "http:a.b c"],
  ["中:文", "http.=E4=B8=AD=3A=E6=96=87", "http:中:文"],
  ["cli:😀", "cli.=F0=9F=98=80", "cli:😀"],
  ["http:", undefined, undefined],
])("session id %j", (given, key, full) => {
  const parsed = parseSessionId(given);
  expect(parsed.ok ? parsed.key : undefined).toBe(key);
  expect(parsed.ok ? parsed.text : undefined).toBe(full);
  if (parsed.ok) expect(sessionOfKey(parsed.key)?.id).toEqual(parsed.id);
});
