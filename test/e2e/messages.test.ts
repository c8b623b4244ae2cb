import { describe, expect, it } from "vitest";
import { Posted, Problem } from "../system/api-shapes.js";
import { Conversation } from "../system/conversation.js";
import { OutboxRecord } from "../system/outbox-record.js";
import { useTroupe } from "../system/use-troupe.js";
import { expectValidHistory, outline } from "../system/valid-history.js";

const system = useTroupe();
const talk = (id: string): Conversation => new Conversation(system(), id);

describe("a message", () => {
  it("is answered in the same request when the client waits", async () => {
    const chat = talk("wait");
    const answer = await chat.say("hello");
    expect(answer).toMatchObject({ session: "http:wait", duplicate: false, status: "done" });
    expect(answer.final).toMatchObject({ turn: answer.turn, kind: "answer", text: "echo: hello", error: null });
    expect(outline(await chat.messages())).toEqual(["user: hello", "assistant: echo: hello"]);
  });

  it("is taken in at once when the client does not wait, and its answer is found later", async () => {
    const chat = talk("later");
    const gate = system().model.hold("no hurry");
    const posted = await chat.send("no hurry", { id: "a" });
    expect(posted).toMatchObject({ status: "queued", duplicate: false });
    await gate.arrived;
    gate.release();
    await chat.until("the turn is over", ({ turn, messageCount }) => turn === null && messageCount === 2);
    expect(await chat.say("no hurry", { id: "a" })).toMatchObject({ turn: posted.turn, duplicate: true });
  });

  it("tells a client whose patience is over what it waits for", async () => {
    const chat = talk("patience");
    const gate = system().model.hold("slow");
    await chat.send("slow", { id: "a" });
    await gate.arrived;
    const { status, body } = await chat.post("slow", { id: "a", wait: 0.2 });
    expect(status).toBe(202);
    const { turn } = Posted.parse(body);
    expect(body).toMatchObject({ status: "waiting", waitingFor: [{ kind: "model", id: turn }] });
    gate.release();
    await chat.until("the turn is over", (view) => view.turn === null);
  });

  it("is remembered by the model in the next turn, in order", async () => {
    const chat = talk("memory");
    await chat.say("my name is Ada");
    await chat.say("what is my name?");
    const asked = await system().model.waitForRequest("what is my name?");
    const shown = (asked.body.messages ?? []).filter(({ role }) => role !== "system").map(({ content }) => content);
    expect(shown).toEqual(["my name is Ada", "echo: my name is Ada", "what is my name?"]);
  });
});

describe("many messages", () => {
  it("of one session are answered in order and one at a time", async () => {
    const chat = talk("order");
    const { model } = system();
    let running = 0;
    let most = 0;
    const take = model.when(/^order \d+$/, async (request, respond) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      respond.text(`done: ${request.lastUser}`);
    });
    const texts = Array.from({ length: 20 }, (_, n) => `order ${n}`);
    // Posted one after the other, so that their order is known; answered while more arrive.
    for (const text of texts) await chat.send(text);
    await chat.until("all are answered", ({ messageCount }) => messageCount === 40);
    take();
    const messages = await chat.messages();
    expectValidHistory(messages);
    expect(outline(messages)).toEqual(texts.flatMap((text) => [`user: ${text}`, `assistant: done: ${text}`]));
    expect(most).toBe(1);
  });

  it("of different sessions do not wait for one another", async () => {
    const gate = system().model.hold("held up");
    const slow = talk("slow").say("held up");
    await gate.arrived;
    expect((await talk("quick").say("and you?")).final.text).toBe("echo: and you?");
    expect(await talk("slow").view()).toMatchObject({ turn: { status: "running" } });
    gate.release();
    expect((await slow).final.text).toBe("echo: held up");
  });
});

describe("the same client id", () => {
  it("sent again gives the same turn and its answer, and the model is not asked again", async () => {
    const chat = talk("repeat");
    const first = await chat.say("once", { id: "one" });
    const again = await chat.say("once", { id: "one" });
    expect(again).toEqual({ ...first, duplicate: true });
    expect(system().model.requests.filter(({ lastUser }) => lastUser === "once")).toHaveLength(1);
    expect((await chat.history()).total).toBe(2);
  });

  it("sent again while its turn is running joins it", async () => {
    const chat = talk("join");
    const gate = system().model.hold("join me");
    const first = chat.say("join me", { id: "one" });
    await gate.arrived;
    const again = chat.say("join me", { id: "one" });
    gate.release();
    expect((await again).final).toEqual((await first).final);
    expect((await again).duplicate).toBe(true);
  });

  it("sent many times at once makes one turn", async () => {
    const chat = talk("race");
    const all = await Promise.all(Array.from({ length: 8 }, () => chat.say("all at once", { id: "one" })));
    expect(new Set(all.map(({ turn }) => turn)).size).toBe(1);
    expect(all.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    expect(outline(await chat.messages())).toEqual(["user: all at once", "assistant: echo: all at once"]);
    const record = await OutboxRecord.open(system());
    expect(await record.finals("http:race")).toHaveLength(1);
    await record.close();
  });

  it("with another text is refused", async () => {
    const chat = talk("conflict");
    await chat.say("this", { id: "one" });
    const { status, body } = await chat.post("that", { id: "one" });
    expect(status).toBe(409);
    expect(Problem.parse(body).code).toBe("id_conflict");
    expect((await chat.history()).total).toBe(2);
  });

  it("with two texts at once lets one of them through", async () => {
    const chat = talk("conflict-race");
    const answers = await Promise.all(["this", "that"].map((text) => chat.post(text, { id: "one" })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
    expect((await chat.history()).total).toBe(2);
  });

  it("in another session is another message", async () => {
    const one = await talk("id-a").say("hi", { id: "one" });
    const other = await talk("id-b").say("hi", { id: "one" });
    expect(other.duplicate).toBe(false);
    expect(other.turn).not.toBe(one.turn);
  });
});
