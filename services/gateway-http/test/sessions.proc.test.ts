import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { followEvents } from "./event-reader.js";
import { startWorld, type World } from "./gateway-harness.js";

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());
beforeEach(() => {
  world.orchestrator.script = ({ mail }) => `you said: ${mail.text}`;
});

const json = (method: string, path: string, body?: unknown) => world.gateway.json(method, path, body);
const say = (session: string, text: string) =>
  json("POST", `/v1/sessions/${encodeURIComponent(session)}/messages?wait=30`, { text });

/** A turn that goes on until it is cancelled. */
const endless = () => new Promise<string>(() => {});

async function begin(session: string): Promise<string> {
  world.orchestrator.script = endless;
  const { body } = await json("POST", `/v1/sessions/${session}/messages`, { text: "go on" });
  await expect.poll(() => world.orchestrator.turns).toContain(body.turn);
  return body.turn;
}

describe("GET session", () => {
  it("shows a session at rest", async () => {
    await say("rest", "hi");
    const { status, body } = await json("GET", "/v1/sessions/rest");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      session: "http:rest",
      revision: expect.any(Number),
      generation: 0,
      messageCount: 2,
      lastConsolidated: 0,
      queued: 0,
      lease: null,
      turn: null,
    });
  });

  it("shows the turn, its lease and what is queued", async () => {
    const turn = await begin("busy");
    await json("POST", "/v1/sessions/busy/messages", { text: "two" });
    await expect.poll(async () => (await json("GET", "/v1/sessions/busy")).body.queued).toBe(1);
    const { body } = await json("GET", "/v1/sessions/busy");
    expect(body).toMatchObject({
      queued: 1,
      lease: { owner: "fake-1", until: expect.stringMatching(INSTANT) },
      turn: { id: turn, status: "running", since: expect.stringMatching(INSTANT), steps: 1 },
    });
  });
});

describe("a session whose message is still to be taken up", () => {
  beforeEach(() => {
    world.orchestrator.paused = true;
  });
  afterEach(() => {
    world.orchestrator.paused = false;
  });

  it("is there from the moment that the message was accepted", async () => {
    await json("POST", "/v1/sessions/unbegun/messages", { text: "one" });
    await json("POST", "/v1/sessions/unbegun/messages", { text: "two" });
    const { status, body } = await json("GET", "/v1/sessions/unbegun");
    expect(status).toBe(200);
    expect(body).toMatchObject({ revision: 0, messageCount: 0, queued: 2, turn: null, lease: null });
    const history = await json("GET", "/v1/sessions/unbegun/messages");
    expect(history.body).toMatchObject({ total: 0, messages: [] });
  });

  it("can be cancelled already", async () => {
    await json("POST", "/v1/sessions/unbegun-2/messages", { text: "one" });
    const cancelling = json("POST", "/v1/sessions/unbegun-2/cancel");
    world.orchestrator.script = endless;
    world.orchestrator.paused = false;
    expect((await cancelling).status).toBe(200);
  });
});

describe("GET messages", () => {
  it("pages through the log by absolute index", async () => {
    for (const text of ["one", "two", "three"]) await say("log", text);
    const first = await json("GET", "/v1/sessions/log/messages?limit=4");
    expect(first.body).toMatchObject({ session: "http:log", generation: 0, from: 0, next: 4, total: 6 });
    expect(first.body.messages[0]).toEqual({
      index: 0,
      turn: expect.stringMatching(/^t_/),
      at: expect.stringMatching(INSTANT),
      role: "user",
      content: "one",
    });
    expect(first.body.messages[1]).toMatchObject({ index: 1, role: "assistant", content: "you said: one" });
    expect(first.body.messages[1]).not.toHaveProperty("tool_calls");
    const rest = await json("GET", "/v1/sessions/log/messages?from=4&limit=4");
    expect(rest.body).toMatchObject({ from: 4, next: null, total: 6 });
    expect(rest.body.messages.map(({ index }) => index)).toEqual([4, 5]);
    const beyond = await json("GET", "/v1/sessions/log/messages?from=100");
    expect(beyond.body).toMatchObject({ from: 6, next: null, total: 6, messages: [] });
  });
});

describe("GET sessions", () => {
  it("lists in pages, by channel, without the erased", async () => {
    for (const id of ["cli:1", "cli:2", "cli:3", "cli:4", "cli:5"]) await say(id, "hi");
    await json("DELETE", "/v1/sessions/cli:2");
    await json("DELETE", "/v1/sessions/cli:3");
    const first = await json("GET", "/v1/sessions?channel=cli&limit=2");
    expect(first.body.sessions).toEqual([
      { session: "cli:1", messageCount: 2, updatedAt: expect.stringMatching(INSTANT), turn: null },
      { session: "cli:4", messageCount: 2, updatedAt: expect.stringMatching(INSTANT), turn: null },
    ]);
    const second = await json("GET", `/v1/sessions?channel=cli&limit=2&cursor=${first.body.next}`);
    expect(second.body.sessions.map(({ session }) => session)).toEqual(["cli:5"]);
    expect(second.body.next).toBeNull();
    const all = await json("GET", "/v1/sessions?limit=1000");
    expect(all.body.sessions.length).toBeGreaterThan(3);
  });
});

describe("control", () => {
  it("cancel ends the turn and names it", async () => {
    const turn = await begin("cancelled");
    const waiting = json("POST", "/v1/sessions/cancelled/messages?wait=30", { text: "next" });
    world.orchestrator.script = () => "after";
    const { status, body } = await json("POST", "/v1/sessions/cancelled/cancel");
    expect(status).toBe(200);
    expect(body).toEqual({ turn, cancelled: true });
    await json("POST", "/v1/sessions/cancelled/reset");
    void waiting;
  });

  it("cancel with nothing to cancel says so", async () => {
    await say("idle", "hi");
    expect((await json("POST", "/v1/sessions/idle/cancel")).body).toEqual({ turn: null, cancelled: false });
  });

  it("cancel gives the waiting client a final of kind cancelled", async () => {
    world.orchestrator.script = endless;
    const waiting = json("POST", "/v1/sessions/stopped/messages?wait=30", { text: "go on" });
    await expect
      .poll(async () => (await json("GET", "/v1/sessions/stopped")).body)
      .toMatchObject({ turn: { status: "running" } });
    await json("POST", "/v1/sessions/stopped/cancel");
    expect((await waiting).body).toMatchObject({ status: "done", final: { kind: "cancelled" } });
  });

  it("reset begins a new generation with an empty log", async () => {
    await say("fresh", "hi");
    expect((await json("POST", "/v1/sessions/fresh/reset")).body).toEqual({ generation: 1 });
    expect((await json("GET", "/v1/sessions/fresh/messages")).body).toMatchObject({ generation: 1, total: 0 });
  });

  it("cancel ends a message that no orchestrator has taken up yet, and names its turn", async () => {
    await say("early", "hi");
    world.orchestrator.paused = true;
    const { body: sent } = await json("POST", "/v1/sessions/early/messages", { text: "never mind" });
    const answer = json("POST", "/v1/sessions/early/cancel");
    await expect.poll(() => world.orchestrator.held("cancel")).toBe(1);
    world.orchestrator.paused = false;
    expect((await answer).body).toEqual({ turn: sent.turn, cancelled: true });
    expect(world.orchestrator.turns).not.toContain(sent.turn);
  });

  it("is answered with 503 when no orchestrator acts on it", async () => {
    await say("alone", "hi");
    world.orchestrator.paused = true;
    const { status, headers, body } = await json("POST", "/v1/sessions/alone/cancel");
    world.orchestrator.paused = false;
    expect(status).toBe(503);
    expect(headers.get("retry-after")).toMatch(/^\d+$/);
    expect(body.code).toBe("no_orchestrator");
  });
});

describe("GET events", () => {
  it("opens on a session that does not exist yet and shows what happens", async () => {
    world.orchestrator.script = async ({ delta, notice }) => {
      delta(0, "you ");
      delta(1, "said");
      await notice("still working");
      return "you said";
    };
    const reader = await followEvents(world.gateway, "to-come");
    expect(reader.status).toBe(200);
    const { body } = await say("to-come", "hi");
    const final = await reader.next(({ event }) => event === "final");
    expect(reader.events.map(({ event }) => event)).toEqual(["delta", "delta", "notice", "final"]);
    expect(JSON.parse(final.data)).toEqual(body.final);
    const [first, , notice] = reader.events;
    expect(JSON.parse(first?.data ?? "")).toMatchObject({ turn: body.turn, attempt: 1, seq: 0, text: "you " });
    expect(first?.id).toBeUndefined();
    expect(notice?.id).toMatch(/^\d+$/);
    expect(Number(final.id)).toBeGreaterThan(Number(notice?.id));
    reader.close();
  });

  it("resumes the durable events behind Last-Event-ID, each once and in order", async () => {
    const reader = await followEvents(world.gateway, "resumed");
    for (const text of ["1", "2", "3", "4"]) await say("resumed", text);
    await reader.next(({ data }) => data.includes("you said: 4"));
    const ids = reader.events.map(({ id }) => id);
    expect(ids).toHaveLength(4);
    reader.close();
    // While one client after the other resumes, more finals arrive.
    const more = ["5", "6", "7", "8"].map((text) => say("resumed", text));
    const resumed = await Promise.all(Array.from({ length: 8 }, () => followEvents(world.gateway, "resumed", ids[1])));
    await Promise.all(more);
    for (const one of resumed) {
      await expect.poll(() => one.events.length).toBe(6);
      const seqs = one.events.map(({ id }) => Number(id));
      expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
      expect(new Set(seqs).size).toBe(6);
      expect(one.events[0]?.id).toBe(ids[2]);
      one.close();
    }
  });

  it("replays everything behind 0, and takes the id as a parameter too", async () => {
    await say("from-start", "hi");
    const reader = await followEvents(world.gateway, "from-start", "0");
    expect(JSON.parse((await reader.next(() => true)).data)).toMatchObject({ text: "you said: hi" });
    reader.close();
    const bad = await world.gateway.call("GET", "/v1/sessions/from-start/events?lastEventId=x");
    expect(bad.status).toBe(422);
  });

  it("serves 1,000 streams at once, and lets go of all of them", async () => {
    const readers = await Promise.all(
      Array.from({ length: 1000 }, (_, n) => followEvents(world.gateway, `crowd-${n % 10}`)),
    );
    await Promise.all(Array.from({ length: 10 }, (_, n) => say(`crowd-${n}`, `to ${n}`)));
    const finals = await Promise.all(readers.map((reader) => reader.next(({ event }) => event === "final")));
    finals.forEach(({ data }, n) => {
      expect(JSON.parse(data).text).toBe(`you said: to ${n % 10}`);
    });
    for (const reader of readers) reader.close();
    await expect.poll(openStreams).toBe(0);
  });
});

async function openStreams(): Promise<number> {
  const text = await (await world.gateway.call("GET", "/metrics")).text();
  return Number(/^troupe_http_open_streams\{[^}]*\} (\d+)/m.exec(text)?.[1]);
}
