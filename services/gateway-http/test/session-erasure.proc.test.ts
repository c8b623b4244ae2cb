import { inboundLedger } from "@troupe/jetstream";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sessionRef } from "../src/session-access.js";
import { followEvents } from "./event-reader.js";
import { startWorld, type World } from "./gateway-harness.js";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());
beforeEach(() => {
  world.orchestrator.script = ({ mail }) => `you said: ${mail.text}`;
});

const json = (method: string, path: string, body?: unknown) => world.gateway.json(method, path, body);
const say = (session: string, text: string) => json("POST", `/v1/sessions/${session}/messages?wait=30`, { text });

describe("DELETE session", () => {
  it("makes the session unknown until somebody writes to it again", async () => {
    await say("gone", "hi");
    const deleted = await world.gateway.call("DELETE", "/v1/sessions/gone");
    expect(deleted.status).toBe(204);
    expect(await deleted.text()).toBe("");
    for (const [method, path] of [
      ["GET", ""],
      ["GET", "/messages"],
      ["POST", "/cancel"],
      ["POST", "/reset"],
      ["DELETE", ""],
    ] as const) {
      expect((await json(method, `/v1/sessions/gone${path}`)).status, `${method} ${path}`).toBe(404);
    }
    await say("gone", "again");
    expect((await json("GET", "/v1/sessions/gone")).body).toMatchObject({ messageCount: 2 });
  });

  it("leaves nothing of what was said: the same id is a new message, and no event is replayed", async () => {
    const path = "/v1/sessions/forgotten/messages?wait=30";
    const first = await json("POST", path, { text: "secret", id: "m1" });
    await json("DELETE", "/v1/sessions/forgotten");
    const reader = await followEvents(world.gateway, "forgotten", "0");
    world.orchestrator.script = () => "anew";
    const second = await json("POST", path, { text: "other", id: "m1" });
    expect(second).toMatchObject({ status: 200, body: { duplicate: false, final: { text: "anew" } } });
    await reader.next(({ event }) => event === "final");
    expect(reader.events.map(({ data }) => data).join()).not.toContain("you said: secret");
    expect(first.body.final?.text).toBe("you said: secret");
    const third = await json("POST", path, { text: "other", id: "m1" });
    expect(third.body).toMatchObject({ duplicate: true, final: { text: "anew" } });
    reader.close();
  });

  it("of a session whose turn runs leaves not even the final that ends it", async () => {
    world.orchestrator.script = () => new Promise<string>(() => {});
    const { body } = await json("POST", "/v1/sessions/mid-turn/messages", { text: "go on" });
    await expect.poll(() => world.orchestrator.turns).toContain(body.turn);
    expect((await json("DELETE", "/v1/sessions/mid-turn")).status).toBe(204);
    expect((await json("DELETE", "/v1/sessions/mid-turn")).status).toBe(404);
  });

  it("of an erased session goes on with what an earlier one could not remove", async () => {
    await say("half", "hi");
    await json("DELETE", "/v1/sessions/half");
    await inboundLedger(world.bus).record(sessionRef("half").key, "left", { turn: "t_1", digest: "d" });
    expect((await json("DELETE", "/v1/sessions/half")).status).toBe(204);
    expect((await json("DELETE", "/v1/sessions/half")).status).toBe(404);
  });
});
