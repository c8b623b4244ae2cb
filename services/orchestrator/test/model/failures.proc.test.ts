import { freePort, type NatsServer, type ScriptedReply } from "@troupe/testkit";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ask, RouterWorld, startTopology } from "./router-world.js";

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

const status =
  (code: number, error: object = { message: "no" }, headers: Record<string, string> = {}): ScriptedReply =>
  (_request, respond) =>
    respond.status(code, { error }, headers);
const LATER = { "retry-after": "3600" };
const UNAVAILABLE = "model_unavailable, may be tried again";
const ANSWERED = "from afar";

/** What the model server does to every request; calls it gets; the turn's end alone, and with a fallback elsewhere. */
const rows: readonly [string, ScriptedReply, number, string, string][] = [
  ["429", status(429), 3, UNAVAILABLE, ANSWERED],
  ["429 with a long Retry-After", status(429, {}, LATER), 1, UNAVAILABLE, ANSWERED],
  ["429 for a spent quota", status(429, { code: "insufficient_quota" }), 1, "model_unavailable", ANSWERED],
  ["503", status(503), 3, UNAVAILABLE, ANSWERED],
  ["503 with a long Retry-After", status(503, {}, LATER), 1, UNAVAILABLE, ANSWERED],
  ["500", status(500), 3, UNAVAILABLE, ANSWERED],
  ["501", status(501), 1, "model_unavailable", ANSWERED],
  ["a connection dropped before the answer", (_, respond) => respond.hangUp(), 3, UNAVAILABLE, ANSWERED],
  ["a stream that is cut", (_, respond) => respond.cut("half an"), 3, UNAVAILABLE, ANSWERED],
  ["a stream that stalls", (_, respond) => respond.stall("half an"), 2, UNAVAILABLE, ANSWERED],
  ["a chunk that is no JSON", (_, respond) => respond.brokenChunk(), 3, UNAVAILABLE, ANSWERED],
  ["401", status(401), 1, "model_refused", ANSWERED],
  ["403", status(403), 1, "model_refused", ANSWERED],
  ["400", status(400), 1, "model_refused", "model_refused"],
  ["404", status(404), 1, "model_refused", "model_refused"],
  [
    "a request that is too long",
    status(400, { code: "context_length_exceeded" }),
    2,
    "context_too_long",
    "context_too_long",
  ],
  // The session asks again, a bounded number of times, and then ends with empty_answer.
  ["an empty answer", (_, respond) => respond.text(""), 1, "empty", "empty"],
];

const cases = rows.map(([name, reply, calls, alone, withFallback]) => ({ name, reply, calls, alone, withFallback }));

describe.each(cases)("$name", ({ reply, calls, alone, withFallback }) => {
  it(`is ${alone} when there is no other model, after ${calls} calls`, async () => {
    world.near.reply(reply);
    const { end } = await ask(await world.process({ stallMs: 1_500 }));
    expect(end).toBe(alone);
    expect(world.near.requests).toHaveLength(calls);
  });

  it(`is ${withFallback} when another provider could answer`, async () => {
    world.near.reply(reply);
    const { end } = await ask(await world.process({ answer: ["near/m", "far/m"], stallMs: 1_500 }));
    expect(end).toBe(withFallback);
    expect(world.near.requests).toHaveLength(calls);
    expect(world.far.requests).toHaveLength(withFallback === ANSWERED ? 1 : 0);
  });
});

it("a server that refuses the connection is unavailable, and another one answers for it", async () => {
  const nearUrl = `http://127.0.0.1:${await freePort()}/v1`;
  expect((await ask(await world.process({ nearUrl }))).end).toBe(UNAVAILABLE);
  const chain = ["near/m", "near/other", "far/m"];
  const process = await world.process({ nearUrl, answer: chain });
  expect((await ask(process)).end).toBe(ANSWERED);
  // The second model of a server that cannot be reached is not tried.
  expect(await process.metrics.text()).not.toContain('model="other",outcome');
});

it("a key that is refused is not tried with another model of the same provider", async () => {
  world.near.reply(status(401));
  const { end } = await ask(await world.process({ answer: ["near/m", "near/other", "far/m"] }));
  expect(end).toBe(ANSWERED);
  expect(world.near.requests).toHaveLength(1);
});

it("a model that fails is followed by another one of the same provider", async () => {
  world.near.reply((request, respond) =>
    request.body.model === "m" ? respond.status(500) : respond.text(`by ${request.body.model}`),
  );
  expect((await ask(await world.process({ answer: ["near/m", "near/other"] }))).end).toBe("by other");
});

it("a temporary failure of the first stays one, whatever the last one says", async () => {
  world.near.reply(status(503));
  for (const code of [401, 400]) {
    world.far.reply(status(code));
    expect((await ask(await world.process({ answer: ["near/m", "far/m"] }))).end).toBe(UNAVAILABLE);
  }
});

it("a request that is too long is sent once more with half of the conversation", async () => {
  world.near.enqueue(status(413));
  world.near.reply((request, respond) => respond.text(`${request.body.messages?.length} messages`));
  expect((await ask(await world.process())).end).toBe("4 messages");
  expect(world.near.requests).toHaveLength(2);
});

it("a single message that is too long is not sent again", async () => {
  world.near.reply(status(413));
  expect((await ask(await world.process(), { text: "long" })).end).toBe("context_too_long");
  expect(world.near.requests).toHaveLength(1);
});

it("the preview is taken back before another try, and says who begins anew", async () => {
  world.near.enqueue((_, respond) => respond.cut("one"));
  world.near.enqueue(status(500));
  world.near.enqueue((_, respond) => respond.cut("two"));
  world.far.enqueue((_, respond) => respond.text(["from", " afar"]));
  const { seen } = await ask(await world.process({ answer: ["near/m", "far/m"] }));
  expect(seen).toEqual(["one", "<recovered>", "two", "<fallback>", "from", " afar"]);
});

it("a try that showed nothing is not taken back, and one that was the last is left to the final", async () => {
  const process = await world.process();
  world.near.enqueue(status(500));
  world.near.enqueue((_, respond) => respond.text("here"));
  expect((await ask(process)).seen).toEqual(["here"]);
  world.near.reply((_, respond) => respond.cut("half"));
  expect((await ask(process)).seen).toEqual(["half", "<recovered>", "half", "<recovered>", "half"]);
});

it("summaries have a model of their own, then the default, and use up no fallback", async () => {
  const process = await world.process({ answer: ["near/m", "far/m"], consolidation: ["near/cheap", "near/m"] });
  world.near.reply((request, respond) =>
    request.body.model === "cheap" ? respond.text("in short") : respond.status(500),
  );
  expect((await ask(process, { role: "consolidation" })).end).toBe("in short");
  world.near.reply(status(500));
  expect((await ask(process, { role: "consolidation" })).end).toBe(UNAVAILABLE);
  expect(world.far.requests).toHaveLength(0);
  expect(new Set(world.near.requests.map(({ body }) => body.model))).toEqual(new Set(["cheap", "m"]));
});
