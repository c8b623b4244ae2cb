import { expect, test } from "vitest";
import { decode, digestOf, SessionMail, turnIdOf, type SessionKey } from "../src/index.js";

const key = "http.a" as SessionKey;
const mail = {
  v: 1,
  id: "m1",
  kind: "user",
  turn: turnIdOf(key, "m1"),
  messageId: "m1",
  digest: digestOf("hi"),
  text: "hi",
  principal: "owner",
};

test("E2: a field that is new to this version is no error and does not come in", () => {
  const read = decode(SessionMail, JSON.stringify({ ...mail, later: true }));
  expect(read).toEqual({ kind: "ok", message: mail });
});

test("E3: a newer version is told apart from what is broken, whatever it looks like", () => {
  expect(decode(SessionMail, JSON.stringify({ v: 2, shape: "unknown" }))).toEqual({ kind: "newer", version: 2 });
});

test.each([
  ["no JSON", "{", "not JSON"],
  ["no version", JSON.stringify({ ...mail, v: undefined }), "no schema version"],
  ["wrong field", JSON.stringify({ ...mail, text: 7 }), "text"],
  ["unknown kind", JSON.stringify({ ...mail, kind: "nonsense" }), "kind"],
  ["an array", "[1]", "no schema version"],
])("E4: %s is invalid, with a reason that names the place and not the value", (_name, raw, reason) => {
  const read = decode(SessionMail, raw);
  expect(read.kind).toBe("invalid");
  expect(read.kind === "invalid" ? read.reason : "").toContain(reason);
});

test("a turn's id depends on session and client id, and on nothing else", () => {
  expect(turnIdOf(key, "m1")).toBe(turnIdOf(key, "m1"));
  expect(turnIdOf(key, "m1")).not.toBe(turnIdOf(key, "m2"));
  expect(turnIdOf(key, "m1")).not.toBe(turnIdOf("http.b" as SessionKey, "m1"));
  expect(turnIdOf(key, "m1")).toMatch(/^t_[0-9a-f]{32}$/);
});
