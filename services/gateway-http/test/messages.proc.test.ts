import { turnIdOf } from "@troupe/contracts";
import { inboundLedger } from "@troupe/jetstream";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { contentDigest } from "@troupe/channel-kit";
import { sessionRef } from "../src/session-access.js";
import { startWorld, type World } from "./gateway-harness.js";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());
beforeEach(() => {
  world.orchestrator.paused = false;
  world.orchestrator.script = ({ mail }) => `you said: ${mail.text}`;
});

const post = (path: string, body: unknown) => world.gateway.json("POST", path, body);

/** Requests that wait for their final. */
async function waiting(): Promise<number> {
  const text = await (await world.gateway.call("GET", "/metrics")).text();
  return Number(/^troupe_http_waiting_requests\{[^}]*\} (\d+)/m.exec(text)?.[1] ?? 0);
}

describe("POST messages", () => {
  it("answers 202 with session, turn and status without waiting", async () => {
    const { status, body } = await post("/v1/sessions/plain/messages", { text: "hi" });
    expect(status).toBe(202);
    expect(body).toEqual({
      session: "http:plain",
      turn: expect.stringMatching(/^t_[0-9a-f]{32}$/),
      duplicate: false,
      status: "queued",
    });
  });

  it("answers 200 with the final when it waits", async () => {
    const { status, body } = await post("/v1/sessions/waits/messages?wait=30", { text: "hi" });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      session: "http:waits",
      duplicate: false,
      status: "done",
      final: {
        turn: body.turn,
        kind: "answer",
        text: "you said: hi",
        introduction: null,
        index: 1,
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        error: null,
        mergedInto: null,
      },
    });
  });

  it("answers 200 when the final is an error", async () => {
    world.orchestrator.script = () => ({
      text: "The model cannot be reached.",
      error: { code: "model_unavailable", retryable: true },
    });
    const { status, body } = await post("/v1/sessions/fails/messages?wait=30", { text: "hi" });
    expect(status).toBe(200);
    expect(body.final).toMatchObject({ kind: "error", error: { code: "model_unavailable" } });
  });

  it("says what a turn waits for when the time is over: the model, or the turn ahead", async () => {
    const release = withResolvers();
    world.orchestrator.script = async () => {
      await release.promise;
      return "late";
    };
    const first = await post("/v1/sessions/slow/messages?wait=0.1", { text: "one", id: "a" });
    expect(first).toMatchObject({ status: 202, body: { status: "waiting" } });
    // Taken up by now, or a moment later.
    const again = async () => (await post("/v1/sessions/slow/messages?wait=0.1", { text: "one", id: "a" })).body;
    await expect.poll(async () => (await again()).waitingFor).toEqual([{ kind: "model", id: first.body.turn }]);
    const second = await post("/v1/sessions/slow/messages?wait=0.3", { text: "two" });
    expect(second.body.waitingFor).toEqual([{ kind: "queue", id: first.body.turn }]);
    release.resolve(undefined);
  });

  it("waits in the queue while no orchestrator takes the message up", async () => {
    world.orchestrator.paused = true;
    const { body } = await post("/v1/sessions/nobody/messages?wait=0.2", { text: "one" });
    expect(body.waitingFor).toEqual([{ kind: "queue", id: null }]);
  });

  it("takes any id as session and shows its full form", async () => {
    for (const [path, full] of [
      ["%E4%BD%A0%E5%A5%BD", "http:你好"],
      ["a%2Fb.c%20d", "http:a/b.c d"],
      ["http:x", "http:x"],
      ["unknown:y", "http:unknown:y"],
      ["telegram:42", "telegram:42"],
      [encodeURIComponent("😀".repeat(39)), `http:${"😀".repeat(39)}`],
    ]) {
      const { body, status } = await post(`/v1/sessions/${path}/messages?wait=30`, { text: "hi" });
      expect(status, full).toBe(200);
      expect(body).toMatchObject({ session: full });
    }
  });

  it("writes into another channel's session as operator", async () => {
    await post("/v1/sessions/telegram:7/messages?wait=30", { text: "from the desk" });
    const mail = world.orchestrator.mails.find((one) => one.kind === "user" && one.text === "from the desk");
    expect(mail).toMatchObject({ principal: "owner" });
  });
});

describe("the same id again", () => {
  it("is the same turn, with its final once that is done", async () => {
    const path = "/v1/sessions/dup/messages";
    const first = await post(`${path}?wait=30`, { text: "hi", id: "a" });
    const again = await post(path, { text: "hi", id: "a" });
    expect(again.status).toBe(200);
    expect(again.body).toEqual({ ...first.body, duplicate: true });
    expect(world.orchestrator.turns.filter((turn) => turn === first.body.turn)).toHaveLength(1);
  });

  it("with another text is a conflict", async () => {
    await post("/v1/sessions/conflict/messages", { text: "hi", id: "a" });
    const { status, body, headers } = await post("/v1/sessions/conflict/messages", { text: "ho", id: "a" });
    expect(status).toBe(409);
    expect(headers.get("content-type")).toMatch(/^application\/problem\+json/);
    expect(body).toMatchObject({ type: "about:blank", title: "Conflict", status: 409, code: "id_conflict" });
  });

  it("waits for the turn that is under way", async () => {
    const release = withResolvers();
    world.orchestrator.script = async () => {
      await release.promise;
      return "done";
    };
    const first = await post("/v1/sessions/under-way/messages", { text: "hi", id: "a" });
    const again = post("/v1/sessions/under-way/messages?wait=30", { text: "hi", id: "a" });
    await expect.poll(waiting).toBe(1);
    release.resolve(undefined);
    expect((await again).body).toMatchObject({
      turn: first.body.turn,
      duplicate: true,
      status: "done",
      final: { text: "done" },
    });
  });

  it("collapses when two are sent at the same time, through two gateways", async () => {
    const other = await world.startGateway();
    const path = "/v1/sessions/race/messages?wait=30";
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        (n % 2 === 0 ? world.gateway : other).json("POST", path, { text: "hi", id: "same" }),
      ),
    );
    const turns = new Set(answers.map(({ body }) => body.turn));
    expect(turns.size).toBe(1);
    expect(answers.map(({ body }) => body.final?.text)).toEqual(Array(10).fill("you said: hi"));
    expect(answers.filter(({ body }) => !body.duplicate)).toHaveLength(1);
    expect(world.orchestrator.turns.filter((turn) => turns.has(turn))).toHaveLength(1);
    await other.stop();
  });

  it("conflicts when two with different texts are sent at the same time", async () => {
    const send = (text: string) => post("/v1/sessions/race-2/messages", { text, id: "same" });
    const answers = await Promise.all([send("a"), send("b"), send("a"), send("b")]);
    const texts = new Set(answers.flatMap(({ status }, n) => (status === 409 ? [] : [n % 2 === 0 ? "a" : "b"])));
    expect(texts.size).toBe(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(2);
  });

  it("is known for a day: from the ledger, when neither MAIL nor the state remembers it", async () => {
    const ledger = inboundLedger(world.bus);
    const { body } = await post("/v1/sessions/noted/messages", { text: "hi", id: "a" });
    const { key } = sessionRef("noted");
    const noted = await ledger.get(key, "a");
    expect(noted).toEqual({ turn: body.turn, digest: contentDigest({ text: "hi" }) });

    const turn = turnIdOf(key, "of-yesterday");
    await ledger.record(key, "of-yesterday", { turn, digest: contentDigest({ text: "hi" }) });
    const again = await post("/v1/sessions/noted/messages", { text: "hi", id: "of-yesterday" });
    expect(again.body).toMatchObject({ turn, duplicate: true });
    const other = await post("/v1/sessions/noted/messages", { text: "ho", id: "of-yesterday" });
    expect(other.status).toBe(409);
    expect(world.orchestrator.turns).not.toContain(turn);
  });

  it("is known to a gateway that starts later", async () => {
    const first = await post("/v1/sessions/later/messages?wait=30", { text: "hi", id: "a" });
    const later = await world.startGateway();
    const again = await later.json("POST", "/v1/sessions/later/messages", { text: "hi", id: "a" });
    expect(again.body).toEqual({ ...first.body, duplicate: true });
    await later.stop();
  });

  it("finds a final that the state no longer holds, in the outbox", async () => {
    const path = "/v1/sessions/forgotten/messages";
    const first = await post(`${path}?wait=30`, { text: "hi", id: "a" });
    await world.gateway.json("POST", "/v1/sessions/forgotten/reset");
    const again = await post(path, { text: "hi", id: "a" });
    expect(again.body).toEqual({ ...first.body, duplicate: true });
  });
});

function withResolvers() {
  let resolve: (value: unknown) => void = () => {};
  const promise = new Promise((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
