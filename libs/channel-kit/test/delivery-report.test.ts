import type { SessionKey } from "@troupe/contracts";
import { createLogger, createMetrics } from "@troupe/platform";
import { describe, expect, it, vi } from "vitest";
import type { AttemptEnd } from "../src/index.js";
import { deliveryReport } from "../src/outbound/delivery-report.js";

const event = { key: "webhook.c5" as SessionKey, seq: 7, text: "" };
const reply = { id: "r_1", session: "webhook:c5", conversation: "c5", turn: "t_1", kind: "answer", text: "x" } as const;
const again = { kind: "again", reason: "busy", attempt: 1, afterMs: undefined, isDoubtful: false } as const;
const settled = { kind: "settled", as: "confirmed", reason: null, attempt: 1, wasUnsettled: false } as const;

/** The lines that are logged of these ends: level, fields, text. */
function linesOf(...ends: readonly AttemptEnd[]): [level: string, fields: unknown, line: unknown][] {
  const log = createLogger({ service: "test", level: "silent" });
  const lines: [string, unknown, unknown][] = [];
  for (const level of ["info", "warn"] as const) {
    vi.spyOn(log, level).mockImplementation((...said: unknown[]) => lines.push([level, said[0], said[1]]));
  }
  const report = deliveryReport(log, createMetrics("test"), "webhook");
  for (const end of ends) report(reply, event, end);
  return lines;
}

describe("what is said of a reply", () => {
  it("names its session as people write it, its turn and itself", () => {
    const named = expect.objectContaining({ session: "webhook:c5", turn: "t_1", reply: "r_1", seq: 7, reason: "busy" });
    expect(
      linesOf(again, { ...settled, as: "rejected", reason: "busy" }, { ...settled, as: "unsettled", reason: "busy" }),
    ).toEqual([
      ["info", named, "a reply was not sent; it will be tried again"],
      ["warn", named, "the channel will not take a reply"],
      ["warn", named, "nobody can tell whether a reply was shown; it is not sent again"],
    ]);
  });

  it("does not deny that one was shown of which nobody can tell", () => {
    const line = "nobody can tell whether a reply was shown; it is sent again, which does no harm";
    expect(linesOf({ ...again, isDoubtful: true })).toEqual([["info", expect.anything(), line]]);
  });

  it("takes back that nobody can tell of one, and is silent about what simply was shown", () => {
    expect(linesOf(settled)).toEqual([]);
    expect(linesOf({ ...settled, wasUnsettled: true })).toEqual([
      ["info", expect.anything(), "a reply of which nobody could tell has been shown after all"],
    ]);
  });

  it("is a warning when one has been tried for long, and again now and then", () => {
    const all = Array.from({ length: 120 }, (_, index) => ({ ...again, attempt: index + 1 }));
    const warned = linesOf(...all).flatMap(([level], index) => (level === "warn" ? [index + 1] : []));
    expect(warned).toEqual([10, 60, 110]);
  });
});
