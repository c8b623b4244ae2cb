import { describe, expect, it } from "vitest";
import { Conversation } from "../system/conversation.js";
import { OutboxRecord } from "../system/outbox-record.js";
import { useTroupe } from "../system/use-troupe.js";
import { expectValidHistory, outline } from "../system/valid-history.js";

const system = useTroupe();
const talk = (id: string): Conversation => new Conversation(system(), id);

/** A turn whose model call is held, and two messages that wait behind it. */
async function busy(chat: Conversation) {
  const gate = system().model.hold(`${chat.id} first`);
  const first = chat.say(`${chat.id} first`);
  const request = await gate.arrived;
  const waiting = [chat.say(`${chat.id} second`), chat.say(`${chat.id} third`)];
  await chat.until("both wait", ({ queued }) => queued === 2);
  return { request, all: Promise.all([first, ...waiting]) };
}

describe("cancel", () => {
  it("ends the running turn and all that wait, and hangs up on the model", async () => {
    const chat = talk("cancel");
    const { request, all } = await busy(chat);
    const { turn } = await chat.view();
    expect(await chat.control("cancel")).toMatchObject({ status: 200, body: { turn: turn?.id, cancelled: true } });
    for (const { final, turn: own } of await all) expect(final).toMatchObject({ turn: own, kind: "cancelled" });
    expect(await request.over).toEqual({ clientLeft: true });
    expect(await chat.view()).toMatchObject({ turn: null, queued: 0 });
    expectValidHistory(await chat.messages());
  });

  it("leaves the conversation usable, with no answer left over", async () => {
    const chat = talk("cancel-next");
    const { all } = await busy(chat);
    await chat.control("cancel");
    await all;
    expect((await chat.say("afterwards")).final.text).toBe("echo: afterwards");
    expect(outline(await chat.messages()).slice(-2)).toEqual(["user: afterwards", "assistant: echo: afterwards"]);
    const record = await OutboxRecord.open(system());
    expect(await record.finals("http:cancel-next")).toHaveLength(4);
    await record.close();
  });

  it("with nothing to cancel says so", async () => {
    const chat = talk("cancel-idle");
    await chat.say("hello");
    expect(await chat.control("cancel")).toMatchObject({ status: 200, body: { turn: null, cancelled: false } });
  });

  it("of an unknown session is a 404", async () => {
    expect((await talk("nobody").control("cancel")).status).toBe(404);
  });
});

describe("reset", () => {
  it("empties the conversation, ends what runs, and counts the generation up", async () => {
    const chat = talk("reset");
    await chat.say("before");
    const { all } = await busy(chat);
    const { generation } = await chat.view();
    expect(await chat.control("reset")).toMatchObject({ status: 200, body: { generation: generation + 1 } });
    for (const { final } of await all) expect(final.kind).toBe("cancelled");
    expect(await chat.history()).toMatchObject({ total: 0, messages: [], generation: generation + 1 });
  });

  it("leaves a conversation that starts anew", async () => {
    const chat = talk("reset-next");
    await chat.say("my secret");
    await chat.control("reset");
    expect((await chat.say("who am I?")).final.text).toBe("echo: who am I?");
    expect(outline(await chat.messages())).toEqual(["user: who am I?", "assistant: echo: who am I?"]);
    const asked = await system().model.waitForRequest("who am I?");
    expect(asked.rawBody).not.toContain("my secret");
  });
});

describe("deletion", () => {
  it("makes the session unknown", async () => {
    const chat = talk("delete");
    await chat.say("hello");
    expect((await chat.erase()).status).toBe(204);
    for (const path of ["", "/messages"]) expect((await chat.get(path)).status).toBe(404);
    const { body } = await system().api("/v1/sessions?limit=1000");
    expect(JSON.stringify(body)).not.toContain("http:delete");
  });

  it("leaves a name that can be used again", async () => {
    const chat = talk("delete-next");
    await chat.say("before");
    await chat.erase();
    expect((await chat.say("after")).final.text).toBe("echo: after");
    expect(outline(await chat.messages())).toEqual(["user: after", "assistant: echo: after"]);
  });
});
