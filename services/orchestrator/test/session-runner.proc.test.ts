import { LiveEvent, type LogMessage, SessionFields, type SessionKey } from "@troupe/contracts";
import { blobStore, type Bus, segmentStore, livePublisher, liveSubscriber } from "@troupe/jetstream";
import { createLogger, createMetrics } from "@troupe/platform";
import type { SessionOutcome } from "@troupe/session";
import type { NatsServer } from "@troupe/testkit";
import { Toolbox } from "@troupe/tools";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { orchestratorMetrics } from "../src/orchestrator-metrics.js";
import { SessionRunner } from "../src/session-runner.js";
import { TurnVoice } from "../src/turn-voice.js";
import { RouterWorld, startTopology } from "./model/router-world.js";

let nats: NatsServer;
let world: RouterWorld;
beforeAll(async () => {
  nats = await startTopology();
});
afterAll(() => nats.stop());
beforeEach(async () => {
  world = await RouterWorld.start(nats);
});
afterEach(() => world.stop());

const KEY = "http.a" as SessionKey;
const TURN = "t_1";

/** A conversation of four questions, three of them answered, and a turn that answers the last one. */
function conversation(): SessionFields {
  const at = 1;
  const tail: LogMessage[] = [1, 2, 3].flatMap((n): LogMessage[] => [
    { role: "user", turn: `t_0${n}`, at, content: `question ${n}` },
    { role: "assistant", turn: `t_0${n}`, at, content: `answer ${n}` },
  ]);
  tail.push({ role: "user", turn: TURN, at, content: "question 4" });
  const turn = { id: TURN, status: "running", since: at, deadlineAt: 9e15, steps: 1, tokens: 0, attempt: 1 };
  return SessionFields.parse({
    generation: 0,
    createdAt: at,
    updatedAt: at,
    messageCount: 7,
    lastConsolidated: 0,
    introduced: false,
    queued: [],
    steered: [],
    summary: null,
    recent: [],
    controls: [],
    erased: false,
    log: { from: 0, tail },
    turn: { ...turn, emptyAnswers: 0, introduce: false },
  });
}

interface Inferred {
  readonly outcome: SessionOutcome;
  /** What `live` carried. */
  readonly live: readonly string[];
}

interface InferOptions {
  readonly deadlineMs?: number;
  readonly attempt?: number;
  readonly resumed?: true;
  readonly fields?: SessionFields;
}

/** Runs the turn's model call as an orchestrator does. */
async function infer(answer: readonly string[], options: InferOptions = {}): Promise<Inferred> {
  const { deadlineMs = 60_000, attempt = 1, resumed, fields = conversation() } = options;
  const [bus, listening] = [await world.connect(), await world.connect()];
  const live: string[] = [];
  const leave = liveSubscriber(listening).subscribe(KEY, (body) =>
    live.push(lineOf(LiveEvent.parse(JSON.parse(body)))),
  );
  // Subscribed when a later request on the same connection is answered.
  await blobStore(listening)
    .get({ key: KEY, generation: 0 }, `${"0".repeat(32)}-1`)
    .catch(() => undefined);
  const { runner, voice } = await runnerOn(bus, answer);
  const place = { kind: "infer", turn: TURN, step: 1, attempt, deadlineAt: Date.now() + deadlineMs } as const;
  const run = resumed === undefined ? place : { ...place, resumed };
  const { outcome } = runner.start(run, { key: KEY, runId: "r", epoch: 3, fields });
  const ended = await outcome;
  voice.tool(KEY, 3, { turn: TURN, callId: "c", name: "end", status: "done", summary: "end" });
  await vi.waitFor(() => expect(live.at(-1)).toBe("end"), { interval: 5 });
  leave();
  return { outcome: ended, live: live.slice(0, -1) };
}

async function runnerOn(bus: Bus, answer: readonly string[]): Promise<{ runner: SessionRunner; voice: TurnVoice }> {
  const { router } = await world.process({ answer });
  const voice = new TurnVoice(livePublisher(bus));
  const runner = new SessionRunner({
    model: router,
    context: { instructions: "Be kind.", language: "en", windowTokens: 60_000 },
    toolbox: new Toolbox([]),
    blobs: blobStore(bus),
    segments: segmentStore(bus),
    voice,
    log: createLogger({ service: "test", level: "silent" }),
    metrics: orchestratorMetrics(createMetrics("test")),
  });
  return { runner, voice };
}

/** The same conversation, of which the first six messages lie in a segment that is not there. */
function unreadable(): SessionFields {
  const { log, ...fields } = conversation();
  const segments = [{ from: 0, to: 6, level: 0, tokens: 30, beginsTurn: true, digest: "0".repeat(64) }];
  return SessionFields.parse({ ...fields, log: { from: 6, segments, tail: log.tail.slice(6) } });
}

function lineOf(event: LiveEvent): string {
  if (event.kind === "delta") return `${event.data.attempt}.${event.data.seq} ${event.data.text}`;
  return event.kind === "reset" ? `${event.data.attempt} <${event.data.reason}>` : event.data.summary;
}

it("tells on live that the same model begins again, and that another one does", async () => {
  world.near.reply((_request, respond) => respond.cut("half"));
  world.far.reply((_request, respond) => respond.text("whole"));
  const { outcome, live } = await infer(["near/m", "far/m"]);
  expect(outcome).toMatchObject({ kind: "model", outcome: { kind: "answer", text: "whole" } });
  expect(live).toEqual([
    "1.0 half",
    "2 <recovered>",
    "2.0 half",
    "3 <recovered>",
    "3.0 half",
    "4 <fallback>",
    "4.0 whole",
  ]);
});

it("shows no reasoning on live", async () => {
  world.near.reply((_request, respond) => respond.text(["<think>secret", " plans</think>", "Hello."]));
  const { live } = await infer(["near/m"]);
  expect(live.join()).not.toMatch(/secret|plans|think/);
  expect(live.map((line) => line.replace(/^\S+ /, "")).join("")).toBe("Hello.");
});

it("shows half of the conversation when all of it is too long, also where it is far below the window", async () => {
  world.near.enqueue((_request, respond) => respond.status(413));
  world.near.reply((_request, respond) => respond.text("fits"));
  const { outcome } = await infer(["near/m"]);
  expect(outcome).toMatchObject({ kind: "model", outcome: { text: "fits" } });
  const shown = world.near.requests.map(({ body }) => body.messages?.slice(1).map(({ content }) => content));
  expect(shown[0]).toHaveLength(7);
  expect(shown[1]).toEqual(["question 3", "answer 3", "question 4"]);
});

it("ends as context_too_long when half is too long as well", async () => {
  world.near.reply((_request, respond) => respond.status(413));
  const { outcome } = await infer(["near/m"]);
  expect(outcome).toMatchObject({ kind: "model", outcome: { kind: "failed", code: "context_too_long" } });
  expect(world.near.requests).toHaveLength(2);
});

it("ends at the turn's deadline, whatever the model does", async () => {
  world.near.reply((_request, respond) => respond.stall("half"));
  expect((await infer(["near/m"], { deadlineMs: 150 })).outcome).toEqual({ kind: "deadline" });
});

it("says at once that the model is unavailable when its pause goes beyond the deadline", async () => {
  world.near.reply((_request, respond) => respond.status(429, {}, { "retry-after": "20" }));
  const { outcome } = await infer(["near/m"], { deadlineMs: 10_000 });
  expect(outcome).toMatchObject({ kind: "model", outcome: { kind: "failed", code: "rate_limited", retryable: true } });
});

it("ends at the turn's deadline, also while the history cannot be read", async () => {
  const { outcome } = await infer(["near/m"], { deadlineMs: 150, fields: unreadable() });
  expect(outcome).toEqual({ kind: "deadline" });
});

it("takes back what another owner showed when the call is resumed, and with no later call of the turn", async () => {
  world.near.reply((_request, respond) => respond.text("whole"));
  expect((await infer(["near/m"], { attempt: 2, resumed: true })).live).toEqual(["1001 <recovered>", "1001.0 whole"]);
  expect((await infer(["near/m"], { attempt: 2 })).live).toEqual(["1001.0 whole"]);
});

it("makes no summary of a history that cannot be read, and does not fail by that", async () => {
  const { runner } = await runnerOn(await world.connect(), ["near/m"]);
  const run = { kind: "summarise", generation: 0, to: 4 } as const;
  const { outcome } = runner.start(run, { key: KEY, runId: "r", epoch: 3, fields: unreadable() });
  expect(await outcome).toEqual({ kind: "summary", text: null });
});
