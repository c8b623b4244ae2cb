import { createLogger, createMetrics } from "@troupe/platform";
import type { NatsServer, ScriptedReply } from "@troupe/testkit";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { openModelRouter } from "../../src/model/open-model-router.js";
import { ask, QUICK, RouterWorld, type RouterProcess, startTopology } from "./router-world.js";

const NEVER = new AbortController().signal;

let nats: NatsServer;
let world: RouterWorld;
/** When requests reached `near`, by the clock that counts milliseconds. */
let arrivals: number[];

beforeAll(async () => {
  nats = await startTopology();
});
afterAll(() => nats.stop());
beforeEach(async () => {
  world = await RouterWorld.start(nats);
  arrivals = [];
  world.far.reply((_request, respond) => respond.text("from afar"));
  world.near.reply(noted((_request, respond) => respond.text("here")));
});
afterEach(() => world.stop());

const noted =
  (reply: ScriptedReply): ScriptedReply =>
  (request, respond) => {
    arrivals.push(performance.now());
    return reply(request, respond);
  };
const later = (seconds: number, code = 429): ScriptedReply =>
  noted((_request, respond) => respond.status(code, {}, { "retry-after": String(seconds) }));
const knows = (process: RouterProcess): Promise<void> =>
  vi.waitFor(() => expect(process.nearPause()).toBeDefined(), { interval: 5 });

/** Begins a pause of `near` through a call of its own that waits for it, until the signal comes. */
async function pausedBy(process: RouterProcess, seconds: number, { code = 429, signal = NEVER } = {}) {
  world.near.enqueue(later(seconds, code));
  const asked = ask(process, { signal });
  await knows(process);
  return { asked, until: (arrivals[0] ?? 0) + seconds * 1_000 };
}

it.each([429, 503])(
  "after %i with Retry-After: 2 both processes stay away for that time, and then resume",
  async (code) => {
    const [a, b] = [await world.process(), await world.process()];
    const { asked, until } = await pausedBy(a, 2, { code });
    await knows(b);
    const turns = await Promise.all([asked, ask(a), ask(b), ask(b)]);
    expect(turns.map(({ end }) => end)).toEqual(["here", "here", "here", "here"]);
    expect(arrivals).toHaveLength(5);
    expect(Math.min(...arrivals.slice(1))).toBeGreaterThanOrEqual(until);
  },
);

it("a process that starts during a pause stays away as well", async () => {
  const a = await world.process();
  const { asked, until } = await pausedBy(a, 1);
  const late = await world.process();
  expect((await ask(late)).end).toBe("here");
  await asked;
  expect(Math.min(...arrivals.slice(1))).toBeGreaterThanOrEqual(until);
});

it("other models of the provider wait too, another provider does not", async () => {
  const process = await world.process({ answer: ["near/m"] });
  const { asked, until } = await pausedBy(process, 3);
  const other = await world.process({ answer: ["near/other"] });
  const elsewhere = await world.process({ answer: ["far/m"] });
  expect((await ask(elsewhere)).end).toBe("from afar");
  expect(performance.now()).toBeLessThan(until);
  expect((await ask(other)).end).toBe("here");
  await asked;
  expect(Math.min(...arrivals.slice(1))).toBeGreaterThanOrEqual(until);
});

it("fifty waiting turns of two processes come back one after the other", async () => {
  const [a, b] = [await world.process(), await world.process()];
  const { asked, until } = await pausedBy(a, 1);
  await knows(b);
  const turns = await Promise.all([asked, ...Array.from({ length: 50 }, (_, n) => ask(n % 2 === 0 ? a : b))]);
  expect(new Set(turns.map(({ end }) => end))).toEqual(new Set(["here"]));
  expect(arrivals).toHaveLength(52);
  expect(Math.min(...arrivals.slice(1))).toBeGreaterThanOrEqual(until);
  // Spread over half a second they are five in fifty milliseconds; all at once would be fifty. What they meant to do
  // counts: a busy machine wakes several of them at once.
  const wakes = [...a.wakes, ...b.wakes];
  expect(wakes.length).toBeGreaterThanOrEqual(51);
  const most = Math.max(...wakes.map((start) => wakes.filter((one) => one >= start && one < start + 50).length));
  expect(most).toBeLessThanOrEqual(20);
});

it("when the first that comes back is refused again, most of the others do not even ask", async () => {
  const [a, b] = [await world.process(), await world.process()];
  const { asked } = await pausedBy(a, 3);
  await knows(b);
  world.near.enqueue(later(3));
  const turns = Promise.all(Array.from({ length: 50 }, (_, n) => ask(n % 2 === 0 ? a : b)));
  expect(new Set((await turns).map(({ end }) => end))).toEqual(new Set(["here"]));
  await asked;
  const [, first = 0, ...rest] = arrivals.toSorted((x, y) => x - y);
  expect(rest).toHaveLength(51);
  // Those that had gone before the refusal was known; a busy machine wakes some more at once.
  expect(rest.filter((at) => at < first + 3_000).length).toBeLessThanOrEqual(30);
});

it("a pause longer than the deadline leaves is not waited for", async () => {
  const process = await world.process();
  const leave = new AbortController();
  const { asked } = await pausedBy(process, 55, { signal: leave.signal });
  const before = performance.now();
  const { end, outcome } = await ask(process, { timeLeftMs: 40_000 });
  expect(end).toBe("model_unavailable, may be tried again");
  expect(outcome).toMatchObject({ code: "rate_limited", detail: expect.stringContaining("near") });
  expect(performance.now() - before).toBeLessThan(20_000);
  expect(arrivals).toHaveLength(1);
  leave.abort();
  expect((await asked).end).toBe("aborted");
});

it("who is aborted while he waits stops waiting", async () => {
  const process = await world.process();
  const abort = new AbortController();
  const { asked } = await pausedBy(process, 55, { signal: abort.signal });
  const before = performance.now();
  const waiting = ask(process, { signal: abort.signal });
  abort.abort();
  expect((await waiting).end).toBe("aborted");
  expect((await asked).end).toBe("aborted");
  expect(performance.now() - before).toBeLessThan(20_000);
  expect(arrivals).toHaveLength(1);
});

it("a longer pause sends the turns to the fallback, of both processes, and no one to the provider", async () => {
  const chain = { answer: ["near/m", "far/m"] };
  const [a, b] = [await world.process(chain), await world.process(chain)];
  world.near.enqueue(later(30));
  expect((await ask(a)).end).toBe("from afar");
  await knows(b);
  expect((await Promise.all([ask(a), ask(b), ask(b)])).map(({ end }) => end)).toEqual(Array(3).fill("from afar"));
  expect(arrivals).toHaveLength(1);
});

it("wired as the service wires it: pauses of other processes are logged and measured", async () => {
  const log = createLogger({ service: "test", level: "silent" });
  const warn = vi.spyOn(log, "warn");
  const metrics = createMetrics("test");
  const near = { name: "near", baseUrl: world.near.url, apiKey: "k" };
  const far = { name: "far", baseUrl: world.far.url, apiKey: "k" };
  const config = {
    models: { default: "m", fallback: [{ provider: "far", model: "n" }] },
    provider: near,
    providers: [near, far],
  };
  const context = {
    config,
    log,
    metrics,
    open: async <T>(_name: string, open: () => T | Promise<T>, close?: (part: T) => unknown): Promise<T> => {
      const part = await open();
      world.onStop(async () => close?.(part));
      return part;
    },
  };
  const router = await openModelRouter(context, await world.connect(), QUICK);
  const other = await world.process({ answer: ["near/m", "far/m"] });
  world.near.enqueue(later(30));
  await ask(other);
  await vi.waitFor(async () => expect(await metrics.text()).toMatch(/pause_seconds\{provider="near".*\} (2\d|30)/));
  const process: RouterProcess = { router, metrics, wakes: [], nearPause: () => undefined };
  expect((await ask(process, { about: { turn: "t_1" } })).end).toBe("from afar");
  expect(arrivals).toHaveLength(1);
  const pause = { provider: "near", code: "rate_limited", pauseMs: expect.any(Number) };
  expect(warn).toHaveBeenCalledWith(pause, expect.stringContaining("left alone"));
  world.far.reply((_request, respond) => respond.status(400));
  await ask(process, { about: { turn: "t_2" } });
  const call = { turn: "t_2", provider: "far", model: "n", code: "refused" };
  expect(warn).toHaveBeenCalledWith(call, expect.stringContaining("HTTP 400"));
  const text = await metrics.text();
  expect(text).toMatch(/troupe_model_calls_total\{provider="far",model="n",outcome="answer",service="test"\} 1/);
  expect(text).toMatch(/troupe_model_calls_total\{provider="far",model="n",outcome="refused",service="test"\} 1/);
  expect(text).toMatch(/troupe_model_pauses_total\{provider="near",code="rate_limited",service="test"\} 1/);
});
