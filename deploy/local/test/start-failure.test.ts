import { describe, expect, it } from "vitest";
import { reasonOf } from "../src/start-failure.js";

describe("reasonOf", () => {
  it.each([
    ["ENOSPC", "the disk is full (/data/nats.json)"],
    ["EROFS", "the file system is read-only (/data/nats.json)"],
    ["EACCES", "no permission to write (/data/nats.json)"],
  ])("puts %s into words", (code, expected) => {
    const error = Object.assign(new Error(`${code}: x, open`), { code, path: "/data/nats.json" });
    expect(reasonOf(error)).toBe(expected);
  });

  it("keeps to one line", () => {
    expect(reasonOf(new Error("first\nsecond"))).toBe("first");
    expect(reasonOf("text")).toBe("text");
  });
});
