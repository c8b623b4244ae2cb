import fc from "fast-check";
import { expect, it } from "vitest";
import { backoff, delay } from "../src/index.js";

it("waits anything from nothing to a bound that doubles up to the largest", () => {
  const highest = backoff({ minMs: 100, maxMs: 1000, random: () => 1 - Number.EPSILON });
  expect(Array.from({ length: 6 }, () => highest.next())).toEqual([99, 199, 399, 799, 999, 999]);
  const lowest = backoff({ minMs: 100, maxMs: 1000, random: () => 0 });
  expect(Array.from({ length: 3 }, () => lowest.next())).toEqual([0, 0, 0]);
});

it("stays within its bounds however long it goes on", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e4 }), fc.integer({ min: 1, max: 1e6 }), (minMs, maxMs) => {
      const waits = backoff({ minMs, maxMs });
      for (let attempt = 0; attempt < 2000; attempt++) {
        const wait = waits.next();
        expect(wait).toBeGreaterThanOrEqual(0);
        expect(wait).toBeLessThanOrEqual(maxMs);
      }
    }),
    { numRuns: 20 },
  );
});

it("begins again after a reset", () => {
  const waits = backoff({ minMs: 100, maxMs: 10_000, random: () => 0.5 });
  waits.next();
  waits.next();
  waits.reset();
  expect(waits.next()).toBe(50);
});

it("delays", async () => {
  const begun = performance.now();
  await delay(20);
  expect(performance.now() - begun).toBeGreaterThanOrEqual(19);
});

it("ends a delay at once when aborted", async () => {
  const stop = new AbortController();
  const waiting = delay(3_600_000, stop.signal);
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
  await expect(delay(3_600_000, stop.signal)).rejects.toMatchObject({ name: "AbortError" });
});
