import type { ModelFailureCode } from "@troupe/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ModelFailure, verdictOf } from "../../src/model/failure-verdict.js";
import {
  afterFailure,
  afterWait,
  NOTHING_TRIED,
  nextStep,
  type Progress,
  type Situation,
  type Step,
  type TargetView,
  type Tried,
} from "../../src/model/next-step.js";
import { ROUTER_RULES } from "../../src/model/router-rules.js";
import { failure } from "./failure.js";

const free: Omit<TargetView, "provider"> = { pausedMs: 0, pauseLengthMs: 0, coolDownMs: 0, probing: false };
const view = (provider: string, more: Partial<TargetView> = {}): TargetView => ({ provider, ...free, ...more });
const paused = (provider: string, ms: number): TargetView =>
  view(provider, {
    pausedMs: ms,
    pauseLengthMs: ms,
    blocked: failure("rate_limited", { detail: `${provider} is paused` }),
  });
const cooling = (provider: string, ms: number): TargetView =>
  view(provider, { coolDownMs: ms, blocked: failure("server_error", { detail: `${provider} is broken` }) });

const on = (chain: readonly TargetView[], more: Partial<Situation> = {}): Situation => ({
  chain,
  timeLeftMs: 600_000,
  random: 0.5,
  yields: false,
  ...more,
});
const after = (...tried: readonly Tried[]): Progress => ({ ...NOTHING_TRIED, tried, rested: tried.length === 0 });
const at = (target: number, ...failures: readonly ModelFailure[]): Tried[] =>
  failures.map((one) => ({ target, failure: one }));
const step = (progress: Progress, situation: Situation): Step => nextStep(progress, situation, ROUTER_RULES);
const call = (target: number): Step => ({ kind: "call", target });

const alone = on([view("a")]);
/** Two models of one provider, and one of another. */
const chain = on([view("a"), view("a"), view("b")]);
const busy = failure("overloaded");
const down = failure("unreachable");
const spent = failure("rate_limited", { retryable: false });

describe("what comes next", () => {
  it.each<[string, Progress, Situation, unknown]>([
    ["N2 the first model is asked first", after(), chain, call(0)],
    [
      "a failure that may pass is repeated after a back-off",
      after(...at(0, busy)),
      chain,
      { kind: "wait", for: "back-off", target: 0, ms: 125 },
    ],
    ["the back-off doubles", after(...at(0, busy, busy)), chain, { for: "back-off", ms: 250 }],
    ["after the back-off it is asked again", { ...after(...at(0, busy)), rested: true }, chain, call(0)],
    [
      "a model whose tries are used up is left for the next, at once",
      after(...at(0, busy, busy, busy)),
      chain,
      call(1),
    ],
    ["what cannot be reached is left with all its models", after(...at(0, down, down, down)), chain, call(2)],
    ["silence is tried less often", after(...at(0, failure("stalled"), failure("stalled"))), chain, call(1)],
    [
      "a key that is refused is refused for all models of the provider",
      after(...at(0, failure("unauthorized"))),
      chain,
      call(2),
    ],
    ["a quota that is spent is not waited for", after(...at(0, spent)), chain, call(2)],
    [
      "a certificate that is not trusted will not be",
      after(...at(0, failure("unreachable", { retryable: false }))),
      chain,
      call(2),
    ],
    [
      "an answer that the model cannot give is asked of the next one",
      after(...at(0, failure("server_error", { retryable: false }))),
      chain,
      call(1),
    ],
    [
      "N4 a refused request is put to nobody else",
      after(...at(0, failure("refused"))),
      chain,
      { kind: "giveUp", failure: { code: "refused" } },
    ],
    [
      "a request that is too long is shortened for the same model",
      after({ target: 0, failure: failure("context_too_long"), shrinks: true }),
      chain,
      call(0),
    ],
    [
      "N4 once",
      after(...at(0, failure("context_too_long"))),
      chain,
      { kind: "giveUp", failure: { code: "context_too_long" } },
    ],
    [
      "N1 a short pause is waited for, also when another model is free",
      after(),
      on([paused("a", 2_000), view("b")]),
      { kind: "wait", for: "pause", target: 0, ms: 2_500 },
    ],
    ["a longer one is not", after(), on([paused("a", 2_001), view("b")]), call(1)],
    ["nor a second short one", { ...after(), pausesMs: 1_500 }, on([paused("a", 1_000), view("b")]), call(1)],
    [
      "nor a short one that ends after the deadline",
      after(),
      on([paused("a", 2_000), view("b")], { timeLeftMs: 1_000 }),
      call(1),
    ],
    [
      "a longer one is waited for when nobody else is there",
      after(),
      on([paused("a", 30_000)]),
      { for: "pause", ms: 32_500 },
    ],
    ["a minute, as limits are", after(), on([paused("a", 60_000)]), { for: "pause" }],
    [
      "the pause that ends first, when all have one",
      after(),
      on([paused("a", 50_000), paused("b", 40_000)]),
      { for: "pause", target: 1 },
    ],
    [
      "N3 not more than a minute",
      after(),
      on([paused("a", 60_001)]),
      { kind: "giveUp", failure: { code: "rate_limited", retryable: true } },
    ],
    ["N3 not what is left of it", { ...after(), pausesMs: 31_000 }, on([paused("a", 30_000)]), { kind: "giveUp" }],
    ["N3 not beyond the deadline", after(), on([paused("a", 30_000)], { timeLeftMs: 30_000 }), { kind: "giveUp" }],
    [
      "N3 a back-off neither",
      after(...at(0, busy)),
      on([view("a")], { timeLeftMs: 100 }),
      { kind: "giveUp", failure: busy },
    ],
    [
      "derived work comes back after the turns",
      after(),
      on([paused("a", 4_000)], { yields: true }),
      { for: "pause", ms: 7_000 },
    ],
    ["N1 a model that cools down is passed over", after(), on([cooling("a", 1), view("b")]), call(1)],
    [
      "N1 and waited for when nobody else is there",
      after(),
      on([cooling("a", 10_000)]),
      { kind: "wait", for: "cool-down", ms: 10_125 },
    ],
    ["N3 but not for long", after(), on([cooling("a", 15_001)]), { kind: "giveUp", failure: { code: "server_error" } }],
    [
      "N1 while another call tries it, it is looked at again",
      after(),
      on([view("a", { probing: true })]),
      { for: "cool-down", ms: 375 },
    ],
    [
      "N5 what may pass wins over what will not",
      after(...at(0, busy, busy, busy), ...at(1, failure("unauthorized"))),
      on([view("a"), view("b")]),
      { kind: "giveUp", failure: busy },
    ],
    [
      "N5 also over a fallback that refuses",
      after(...at(0, busy, busy, busy), ...at(1, failure("refused"))),
      on([view("a"), view("b")]),
      { kind: "giveUp", failure: busy },
    ],
    [
      "N5 but a model's own no stands",
      after(...at(0, busy, failure("refused"))),
      alone,
      { kind: "giveUp", failure: { code: "refused" } },
    ],
    [
      "N5 a pause leaves hope where a key does not",
      after(...at(0, failure("unauthorized"))),
      on([view("a"), paused("b", 99_000)]),
      { kind: "giveUp", failure: { code: "rate_limited", retryable: true } },
    ],
  ])("%s", (_, progress, situation, expected) => {
    expect(step(progress, situation)).toMatchObject(expected as object);
  });

  it("answers of ‘later’ are no failed tries, but they are counted", () => {
    const later = failure("rate_limited", { retryAfterMs: 10 });
    expect(step(after(...at(0, later, later, later, later, later, later)), chain)).toEqual(call(0));
    expect(step(after(...at(0, later, later, later, later, later, later, later)), chain)).toEqual(call(1));
  });
});

const CODES: readonly ModelFailureCode[] = [
  "unreachable",
  "rate_limited",
  "overloaded",
  "server_error",
  "unauthorized",
  "refused",
  "context_too_long",
  "stalled",
  "cut",
  "malformed",
];
const anyFailure = fc
  .record({
    code: fc.constantFrom(...CODES),
    passes: fc.boolean(),
    retryAfterMs: fc.option(fc.integer({ min: 0, max: 5_000 }), { nil: undefined }),
  })
  .map(({ code, passes, retryAfterMs }) => {
    const made = failure(code);
    return { ...made, retryable: made.retryable && passes, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  });
const anyView = fc
  .record({
    provider: fc.constantFrom("a", "b", "c"),
    pausedMs: fc.constantFrom(0, 0, 0, 500, 3_000, 70_000),
    coolDownMs: fc.constantFrom(0, 0, 0, 1_000, 20_000),
    probing: fc.boolean(),
  })
  .map((one) => view(one.provider, { ...one, pauseLengthMs: one.pausedMs, blocked: failure("overloaded") }));

describe("any course of a call", () => {
  const course = fc.record({
    chains: fc
      .integer({ min: 1, max: 3 })
      .chain((length) =>
        fc.array(fc.array(anyView, { minLength: length, maxLength: length }), { minLength: 1, maxLength: 30 }),
      ),
    failures: fc.array(anyFailure, { minLength: 80, maxLength: 80 }),
    random: fc.double({ min: 0, max: 0.999, noNaN: true }),
    timeLeftMs: fc.integer({ min: 1, max: 600_000 }),
  });

  it("ends, within its bounds, asking nobody who must not be asked", () => {
    fc.assert(
      fc.property(course, ({ chains, failures, random, timeLeftMs }) => {
        const providers = chains[0]?.map(({ provider }) => provider) ?? [];
        let progress = NOTHING_TRIED;
        let leftMs = timeLeftMs;
        let calls = 0;
        for (let round = 0; round < 1_000; round++) {
          const now = chains[round % chains.length]?.map((one, i) => ({ ...one, provider: providers[i] ?? "" })) ?? [];
          const next = step(progress, on(now, { random, timeLeftMs: leftMs }));
          if (next.kind === "giveUp") {
            // N5: nobody is told that it is hopeless while somebody said that it may pass (but for his own no).
            const last = progress.tried.at(-1);
            const hope = progress.tried.some((one) => one.failure.retryable && one.target !== last?.target);
            if (hope) expect(next.failure.retryable).toBe(true);
            return;
          }
          const target = now[next.target];
          if (next.kind === "wait") {
            expect(next.ms).toBeGreaterThan(0);
            expect(next.ms).toBeLessThan(leftMs);
            leftMs -= next.ms;
            progress = afterWait(progress, next);
            continue;
          }
          expect(target).toMatchObject({ pausedMs: 0, coolDownMs: 0, probing: false });
          for (const one of progress.tried) {
            const verdict = verdictOf(one.failure);
            expect(verdict).not.toBe("end");
            if (verdict === "next-model") expect(one.target).not.toBe(next.target);
            if (verdict === "next-provider") expect(providers[one.target]).not.toBe(target?.provider);
          }
          const made = failures[calls++];
          if (made === undefined) throw new Error("more calls than any bound allows");
          progress = afterFailure(progress, { target: next.target, failure: made });
        }
        throw new Error("it does not end");
      }),
      { numRuns: 500 },
    );
  });
});
