import { sessionEntry } from "@troupe/testkit";
import { expect, it } from "vitest";
import { readEntry } from "../src/index.js";

it("leaves an entry of a newer form alone, whatever it holds", () => {
  expect(readEntry('{"schema":999}')).toEqual({ kind: "newer" });
  expect(readEntry('{"schema":1}')).toEqual({ kind: "invalid" });
  expect(readEntry("{")).toEqual({ kind: "invalid" });
  expect(readEntry(JSON.stringify(sessionEntry())).kind).toBe("ok");
});
