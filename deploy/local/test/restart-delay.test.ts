import { describe, expect, it } from "vitest";
import { RestartDelay } from "../src/restart-delay.js";

describe("RestartDelay", () => {
  it("doubles from 0.2 s up to 5 s", () => {
    const delay = new RestartDelay();
    const delays = Array.from({ length: 7 }, () => delay.after(100));
    expect(delays).toEqual([200, 400, 800, 1600, 3200, 5000, 5000]);
  });

  it("begins anew after 30 s of health", () => {
    const delay = new RestartDelay();
    delay.after(0);
    delay.after(0);
    expect(delay.after(29_999)).toBe(800);
    expect(delay.after(30_000)).toBe(200);
    expect(delay.after(0)).toBe(400);
  });
});
