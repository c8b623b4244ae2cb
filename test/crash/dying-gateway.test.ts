import type { ScriptedStream } from "@troupe/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Conversation } from "../system/conversation.js";
import { followEvents } from "../system/event-reader.js";
import { OutboxRecord } from "../system/outbox-record.js";
import { useTroupe } from "../system/use-troupe.js";

const system = useTroupe({ gateways: 2 });
const talk = (id: string): Conversation => new Conversation(system(), id);
let record: OutboxRecord;

beforeAll(async () => {
  record = await OutboxRecord.open(system());
});
afterAll(() => record.close());

/** Ends the gateway that clients talk to, and starts it again on its port. */
async function restartGateway(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
  const [gateway] = system().gateways;
  await gateway?.kill(signal);
  await gateway?.start({ TROUPE_HTTP_PORT: new URL(system().url).port });
}

describe("a gateway killed while a client waits", () => {
  it("gives the same turn and its answer to the same id afterwards", async () => {
    const chat = talk("wait");
    const gate = system().model.hold("hold the line");
    const lost = chat.post("hold the line", { id: "a" }).catch(() => "cut off");
    await gate.arrived;
    const { turn } = await chat.view();
    await restartGateway("SIGKILL");
    expect(await lost).toBe("cut off");
    const waiting = chat.say("hold the line", { id: "a" });
    gate.release();
    const again = await waiting;
    expect(again).toMatchObject({ turn: turn?.id, duplicate: true, final: { text: "echo: hold the line" } });
    expect(await record.finals("http:wait")).toEqual([again.final]);
  });

  it("has an answer given meanwhile waiting for whoever asks again", async () => {
    const chat = talk("meanwhile");
    const gate = system().model.hold("in the meantime");
    const posted = await chat.send("in the meantime", { id: "a" });
    await gate.arrived;
    const [gateway] = system().gateways;
    await gateway?.kill("SIGKILL");
    gate.release();
    const answer = await gate.arrived;
    expect(await answer.over).toEqual({ clientLeft: false });
    await gateway?.start({ TROUPE_HTTP_PORT: new URL(system().url).port });
    const again = await chat.say("in the meantime", { id: "a" });
    expect(again).toMatchObject({ turn: posted.turn, duplicate: true, final: { text: "echo: in the meantime" } });
  });
});

describe("a gateway restarted under an event stream", () => {
  it("goes on with Last-Event-ID: nothing lost, nothing twice", async () => {
    const chat = talk("events");
    const before = await followEvents(system(), "events");
    await chat.say("one");
    const { id } = await before.next(({ event }) => event === "final");
    await restartGateway("SIGTERM");
    await chat.say("two");
    const after = await followEvents(system(), "events", id);
    await after.next(({ event }) => event === "final");
    await chat.say("three");
    await after.next(({ event, data }) => event === "final" && data.includes("echo: three"));
    const texts = after.events.filter(({ event }) => event === "final").map(({ data }) => JSON.parse(data).text);
    expect(texts).toEqual(["echo: two", "echo: three"]);
    after.close();
  });
});

describe("a gateway asked to end while clients wait", () => {
  it("tells each of them in its own form, and the same request gets its answer afterwards", async () => {
    const [gateway] = system().gateways;
    const gate = system().model.hold("wait for it");
    const chat = talk("drained");
    const waiting = chat.post("wait for it", { id: "a" });
    await gate.arrived;
    const words = new Promise<ScriptedStream>((resolve) => {
      system().model.enqueue((_request, respond) => {
        const stream = respond.stream();
        stream.text("the first words");
        resolve(stream);
      });
    });
    const ask = () =>
      fetch(`${system().url}/v1/chat/completions`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${system().token}`,
          "content-type": "application/json",
          "x-troupe-session": "drained-stream",
          "idempotency-key": "b",
        },
        body: JSON.stringify({ model: "troupe", stream: true, messages: [{ role: "user", content: "stream it" }] }),
      });
    const streamed = await ask();
    const stream = await words;
    const text = streamed.text();
    const askedAt = performance.now();
    expect(await gateway?.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    expect(performance.now() - askedAt).toBeLessThan(10_000);
    expect(await waiting).toMatchObject({ status: 202, body: { status: "waiting", waitingFor: [{ kind: "model" }] } });
    expect(await text).toMatch(/the first words[^]*"code":"stopping"/);
    await gateway?.start({ TROUPE_HTTP_PORT: new URL(system().url).port });
    gate.release();
    stream.text(" and the last");
    stream.finish();
    stream.done();
    expect((await chat.say("wait for it", { id: "a" })).final.text).toBe("echo: wait for it");
    const again = await (await ask()).text();
    expect(again.match(/"content":"[^"]*"/g)?.join("")).toContain("the first words and the last");
    expect(await record.finals("http:drained-stream")).toHaveLength(1);
  });
});

describe("two gateways", () => {
  it("know each other's messages: the same id at the other one is the same turn", async () => {
    const [, other] = system().gateways;
    const port = await other?.field("HTTP gateway open", "port");
    const first = await talk("both").say("hello", { id: "a" });
    const response = await fetch(`http://127.0.0.1:${String(port)}/v1/sessions/both/messages?wait=20`, {
      method: "POST",
      headers: { authorization: `Bearer ${system().token}`, "content-type": "application/json" },
      body: JSON.stringify({ text: "hello", id: "a" }),
    });
    expect(await response.json()).toEqual({ ...first, duplicate: true });
  });
});
