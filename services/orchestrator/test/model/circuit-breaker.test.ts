import { beforeEach, expect, it } from "vitest";
import { type BreakerState, CircuitBreaker } from "../../src/model/circuit-breaker.js";

const rules = { failures: 3, firstCoolDownMs: 1_000, longestCoolDownMs: 3_000 };
let now = 0;
let random = 0;
let changes: BreakerState[] = [];
let breaker: CircuitBreaker<string>;

beforeEach(() => {
  now = 0;
  random = 0;
  changes = [];
  breaker = new CircuitBreaker({
    rules,
    now: () => now,
    random: () => random,
    onChange: (state) => changes.push(state),
  });
});

const fail = (times: number): void => {
  for (let i = 0; i < times; i++) breaker.failed(breaker.enter(), `failure ${i}`);
};

it("B1 opens after failures in a row, and only in a row", () => {
  fail(2);
  breaker.succeeded(breaker.enter());
  fail(2);
  expect(breaker.hold).toEqual({ leftMs: 0, probing: false });
  fail(1);
  expect(breaker.hold).toEqual({ leftMs: 1_000, probing: false });
  expect(breaker.state).toBe("open");
  expect(breaker.last).toBe("failure 0");
});

it("B2 lets one call through when the cool-down is over, and closes with it", () => {
  fail(3);
  now = 999;
  expect(breaker.hold.leftMs).toBe(1);
  now = 1_000;
  expect(breaker.hold).toEqual({ leftMs: 0, probing: false });
  const probe = breaker.enter();
  expect(breaker.hold).toEqual({ leftMs: 0, probing: true });
  breaker.succeeded(probe);
  expect(breaker.hold).toEqual({ leftMs: 0, probing: false });
  fail(2);
  expect(changes).toEqual(["open", "half-open", "closed"]);
});

it("B3 cools down twice as long after each probe that fails, up to a limit, and begins anew after a success", () => {
  fail(3);
  const cooled: number[] = [];
  for (let probes = 0; probes < 4; probes++) {
    cooled.push(breaker.hold.leftMs);
    now += breaker.hold.leftMs;
    breaker.failed(breaker.enter(), "again");
  }
  expect(cooled).toEqual([1_000, 2_000, 3_000, 3_000]);
  now += breaker.hold.leftMs;
  breaker.succeeded(breaker.enter());
  fail(3);
  expect(breaker.hold.leftMs).toBe(1_000);
});

it("B3 hears nothing from calls that began before it opened", () => {
  const [early, earlier] = [breaker.enter(), breaker.enter()];
  fail(3);
  breaker.succeeded(early);
  breaker.failed(earlier, "late");
  expect(breaker.hold.leftMs).toBe(1_000);
  now = 1_000;
  const probe = breaker.enter();
  breaker.failed(earlier, "late");
  breaker.left(earlier);
  expect(breaker.hold.probing).toBe(true);
  breaker.succeeded(probe);
  expect(breaker.state).toBe("closed");
});

it("B4 closes with the probe's first text, and opens again at once when that breaks off", () => {
  fail(3);
  now = 1_000;
  const probe = breaker.enter();
  breaker.alive(probe);
  expect(breaker.state).toBe("closed");
  breaker.failed(probe, "cut");
  expect(breaker.hold.leftMs).toBe(2_000);
  now = 3_000;
  const better = breaker.enter();
  breaker.alive(better);
  breaker.succeeded(better);
  fail(2);
  expect(breaker.state).toBe("closed");
});

it("lets the next call probe when the prober left without an outcome", () => {
  fail(3);
  now = 1_000;
  breaker.left(breaker.enter());
  expect(breaker.hold).toEqual({ leftMs: 0, probing: false });
  expect(breaker.state).toBe("half-open");
});

it("does not cool down for the same time in every process", () => {
  random = 0.999;
  fail(3);
  expect(breaker.hold.leftMs).toBeGreaterThan(799);
  expect(breaker.hold.leftMs).toBeLessThan(801);
});
