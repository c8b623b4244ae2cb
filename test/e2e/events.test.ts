import type { EventSourceMessage } from "eventsource-parser";
import { describe, expect, it } from "vitest";
import { Conversation } from "../system/conversation.js";
import { followEvents } from "../system/event-reader.js";
import { useTroupe } from "../system/use-troupe.js";

const system = useTroupe();

const isFinal = ({ event }: EventSourceMessage): boolean => event === "final";
const textOf = ({ data }: EventSourceMessage): unknown => JSON.parse(data).text;
const texts = (events: readonly EventSourceMessage[], kind: string): unknown[] =>
  events.filter(({ event }) => event === kind).map(textOf);

describe("the event stream", () => {
  it("shows the answer word by word, then the final with the whole of it", async () => {
    const { model } = system();
    const events = await followEvents(system(), "stream");
    model.enqueue((_request, respond) => respond.text(["Once ", "upon ", "a time"]));
    const { turn } = await new Conversation(system(), "stream").send("tell me");
    const final = await events.next(isFinal);
    expect(JSON.parse(final.data)).toMatchObject({ turn, kind: "answer", text: "Once upon a time" });
    expect(final.id).toMatch(/^\d+$/);
    expect(events.events.at(-1)).toBe(final);
    expect(texts(events.events, "delta").join("")).toBe("Once upon a time");
    const live = events.events.filter(({ event }) => event === "delta");
    expect(live.map(({ data }) => JSON.parse(data).seq)).toEqual(live.map((_, n) => n));
    expect(live.map(({ id }) => id)).toEqual(live.map(() => undefined));
    events.close();
  });

  it("shows tools as they run", async () => {
    const { model } = system();
    const events = await followEvents(system(), "progress");
    model.enqueue(
      (_request, respond) => respond.calls([{ id: "c1", name: "echo", arguments: { text: "hi" } }]),
      (_request, respond) => respond.text("done"),
    );
    await new Conversation(system(), "progress").send("use it");
    await events.next(isFinal);
    const tools = events.events.filter(({ event }) => event === "tool").map(({ data }) => JSON.parse(data));
    expect(tools).toMatchObject([
      { callId: "c1", name: "echo", status: "started" },
      { callId: "c1", name: "echo", status: "done" },
    ]);
    events.close();
  });

  it("of a reader that was away goes on where it was: nothing lost, nothing twice", async () => {
    const chat = new Conversation(system(), "resume");
    const before = await followEvents(system(), "resume");
    await chat.say("one");
    const seen = await before.next(isFinal);
    before.close();
    await chat.say("two");
    await chat.say("three");
    const after = await followEvents(system(), "resume", seen.id);
    await after.next((event) => isFinal(event) && textOf(event) === "echo: three");
    await chat.say("four");
    await after.next((event) => isFinal(event) && textOf(event) === "echo: four");
    expect(texts(after.events, "final")).toEqual(["echo: two", "echo: three", "echo: four"]);
    after.close();
  });

  it("resumed in the middle of a turn gets its final once", async () => {
    const chat = new Conversation(system(), "mid-turn");
    const gate = system().model.hold("middle");
    const first = await followEvents(system(), "mid-turn");
    await chat.say("start");
    const { id } = await first.next(isFinal);
    const waiting = chat.say("middle");
    await gate.arrived;
    first.close();
    const second = await followEvents(system(), "mid-turn", id);
    gate.release();
    await waiting;
    await second.next(isFinal);
    await chat.say("end");
    await second.next((event) => isFinal(event) && textOf(event) === "echo: end");
    expect(texts(second.events, "final")).toEqual(["echo: middle", "echo: end"]);
    second.close();
  });

  it("shows only its own session", async () => {
    const events = await followEvents(system(), "mine");
    await new Conversation(system(), "yours").say("not for you");
    await new Conversation(system(), "mine").say("for me");
    await events.next(isFinal);
    expect(JSON.stringify(events.events)).not.toContain("not for you");
    events.close();
  });
});
