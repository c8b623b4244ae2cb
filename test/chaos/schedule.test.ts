import { describe, expect, it } from "vitest";
import { drawBlows } from "./blow-draw.mjs";
import { drawSessions } from "./schedule.mjs";

const SEEDS = [1, 2, 3, 4, 5];
const LOAD = { turns: 2_000, gap: 10, orchestrators: 2, gateways: 2, channels: 4 };

describe("the schedule of a chaos run", () => {
  it("is the same for the same seed", () => {
    expect(drawSessions(7, 300)).toEqual(drawSessions(7, 300));
    expect(drawBlows(7, LOAD)).toEqual(drawBlows(7, LOAD));
    expect(drawBlows(8, LOAD)).not.toEqual(drawBlows(7, LOAD));
  });

  it.each(SEEDS)("gives messengers of both kinds a share of the sessions (seed %i)", (seed) => {
    const sessions = drawSessions(seed, LOAD.turns);
    const shareOf = (resend: string) =>
      sessions.filter((one) => one.isAtMessenger && one.resend === resend).length / sessions.length;
    expect(shareOf("harmless") + shareOf("unsafe")).toBeGreaterThan(0.1);
    expect(shareOf("harmless") + shareOf("unsafe")).toBeLessThan(0.25);
    expect(Math.min(shareOf("harmless"), shareOf("unsafe"))).toBeGreaterThan(0.02);
  });

  it.each(SEEDS)("strikes each process of the channels, while it sends and while it does not (seed %i)", (seed) => {
    const blows = drawBlows(seed, LOAD).filter(({ target }) => target === "channel");
    expect(new Set(blows.map(({ which }) => which))).toEqual(new Set([0, 1, 2, 3]));
    expect(new Set(blows.map(({ moment }) => moment))).toEqual(new Set(["any", "arrived", "shown"]));
    expect(new Set(blows.map(({ how }) => how))).toEqual(new Set(["SIGKILL", "SIGTERM", "pause"]));
  });
});
