import type { NatsServer, ScriptedReply } from "@troupe/testkit";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { ask, QUICK, type RouterProcess, RouterWorld, startTopology } from "./router-world.js";

let nats: NatsServer;
let world: RouterWorld;
beforeAll(async () => {
  nats = await startTopology();
});
afterAll(() => nats.stop());
beforeEach(async () => {
  world = await RouterWorld.start(nats);
  world.far.reply((_request, respond) => respond.text("from afar"));
});
afterEach(() => world.stop());

const broken: ScriptedReply = (_request, respond) => respond.status(500);
const here: ScriptedReply = (_request, respond) => respond.text("here");
/** Long enough to look around while it lasts. */
const SLOW = { ...QUICK, breaker: { ...QUICK.breaker, firstCoolDownMs: 1_000 } };
const WITH_FALLBACK = { answer: ["near/m", "far/m"] };

async function breakerState({ metrics }: RouterProcess): Promise<number> {
  const line = (await metrics.text())
    .split("\n")
    .find((one) => one.includes('breaker_state{provider="near",model="m"'));
  return Number(line?.split(" ").at(-1));
}

it("opens after five failures in a row: then turns go straight to the fallback", async () => {
  const process = await world.process({ ...WITH_FALLBACK, rules: SLOW });
  world.near.reply(broken);
  expect((await ask(process)).end).toBe("from afar");
  expect(await breakerState(process)).toBe(0);
  expect((await ask(process)).end).toBe("from afar");
  expect(world.near.requests).toHaveLength(5);
  expect(await breakerState(process)).toBe(2);
  expect((await ask(process)).end).toBe("from afar");
  expect(world.near.requests).toHaveLength(5);
});

it("is one per model and process", async () => {
  const one = await world.process({ ...WITH_FALLBACK, rules: SLOW });
  world.near.reply((request, respond) =>
    request.body.model === "m" ? respond.status(500) : respond.text(`by ${request.body.model}`),
  );
  await ask(one);
  await ask(one);
  expect(await breakerState(one)).toBe(2);
  const process = await world.process({ answer: ["near/other"] });
  expect((await ask(process)).end).toBe("by other");
  const another = await world.process({ ...WITH_FALLBACK, rules: SLOW });
  await ask(another);
  expect(world.near.requests.filter(({ body }) => body.model === "m")).toHaveLength(8);
});

it("after the cool-down one call is tried; while it is, the others keep away, and all return when it succeeds", async () => {
  const process = await world.process(WITH_FALLBACK);
  world.near.reply(broken);
  await ask(process);
  await ask(process);
  world.near.reply(here);
  const probe = world.near.hold();
  const first = await vi.waitUntil(() => probing(process, probe.arrived), { interval: 5 });
  expect(await breakerState(process)).toBe(1);
  expect((await Promise.all([ask(process), ask(process)])).map(({ end }) => end)).toEqual(["from afar", "from afar"]);
  expect(world.near.requests).toHaveLength(6);
  probe.release();
  expect((await first.asked).end).toBe("here");
  expect(await breakerState(process)).toBe(0);
  expect((await ask(process)).end).toBe("here");
});

it("the first word of the call that is tried is enough for the others, who need not wait for its end", async () => {
  const process = await world.process(WITH_FALLBACK);
  world.near.reply(broken);
  await ask(process);
  await ask(process);
  world.near.reply(here);
  let finish: () => void = () => undefined;
  const probe = world.near.hold(undefined, (_request, respond) => {
    const stream = respond.stream();
    stream.text("long");
    finish = () => {
      stream.finish("stop");
      stream.done();
    };
  });
  const first = await vi.waitUntil(() => probing(process, probe.arrived), { interval: 5 });
  probe.release();
  await vi.waitFor(async () => expect((await ask(process)).end).toBe("here"), { interval: 5 });
  expect(await breakerState(process)).toBe(0);
  finish();
  expect((await first.asked).end).toBe("long");
});

/** Asks; the call that reaches `near` is the probe. */
async function probing(process: RouterProcess, arrived: Promise<unknown>) {
  const asked = ask(process);
  const isProbe = await Promise.race([arrived.then(() => true), asked.then(() => false)]);
  return isProbe && { asked };
}

it("cools down longer after a probe that fails", async () => {
  const process = await world.process(WITH_FALLBACK);
  const at: number[] = [];
  world.near.reply((_request, respond) => {
    at.push(performance.now());
    respond.status(500);
  });
  await vi.waitFor(
    async () => {
      await ask(process);
      expect(at).toHaveLength(8);
    },
    { interval: 2 },
  );
  const [opened = 0, ...probes] = at.slice(4);
  const gaps = probes.map((one, i) => one - (i === 0 ? opened : (probes[i - 1] ?? 0)));
  // 60, 120 and 240 ms, each up to a fifth shorter.
  expect(gaps[0]).toBeGreaterThanOrEqual(47);
  expect(gaps[1]).toBeGreaterThanOrEqual(95);
  expect(gaps[2]).toBeGreaterThanOrEqual(191);
});

it("without another model turns wait for a short cool-down, and the model is not stormed when it is over", async () => {
  const process = await world.process();
  world.near.reply(broken);
  await ask(process);
  expect((await ask(process, { timeLeftMs: 20 })).end).toBe("model_unavailable, may be tried again");
  await ask(process, { timeLeftMs: 20 });
  expect(await breakerState(process)).toBe(2);
  const failed = world.near.requests.length;
  world.near.reply(here);
  const probe = world.near.hold();
  const turns = Array.from({ length: 20 }, () => ask(process));
  await probe.arrived;
  expect(world.near.requests).toHaveLength(failed + 1);
  probe.release();
  expect((await Promise.all(turns)).every(({ end }) => end === "here")).toBe(true);
});

it("a long cool-down is not waited for: the turn ends with what is wrong", async () => {
  const rules = { ...QUICK, breaker: { ...QUICK.breaker, firstCoolDownMs: 600_000, longestCoolDownMs: 600_000 } };
  const process = await world.process({ rules });
  world.near.reply((_request, respond) => respond.status(401));
  for (let turns = 0; turns < 7; turns++) expect((await ask(process)).end).toBe("model_refused");
  expect(world.near.requests).toHaveLength(5);
});

it("answers that say no are answers: they open nothing", async () => {
  const process = await world.process();
  world.near.reply((_request, respond) => respond.status(400));
  for (let turns = 0; turns < 7; turns++) expect((await ask(process)).end).toBe("model_refused");
  expect(world.near.requests).toHaveLength(7);
  expect(await breakerState(process)).toBe(0);
});
