import { describe, expect, it } from "vitest";
import { Conversation } from "../system/conversation.js";
import { useTroupe } from "../system/use-troupe.js";
import { expectValidHistory, outline } from "../system/valid-history.js";

const system = useTroupe();
const talk = (id: string): Conversation => new Conversation(system(), id);
const asked = (text: string): number => system().model.requests.filter(({ lastUser }) => lastUser === text).length;

describe("a model in trouble", () => {
  it("that answers nothing is asked twice more, then the person is told", async () => {
    const take = system().model.when("say nothing", (_request, respond) => respond.text(""));
    const { final } = await talk("empty").say("say nothing");
    take();
    expect(final).toMatchObject({ kind: "error", error: { code: "empty_answer" }, text: expect.stringMatching(/\w/) });
    expect(asked("say nothing")).toBe(3);
  });

  it("that answers nothing once and then something is no trouble at all", async () => {
    system().model.enqueue((_request, respond) => respond.text("  \n"));
    const chat = talk("empty-once");
    expect((await chat.say("speak up")).final).toMatchObject({ kind: "answer", text: "echo: speak up" });
    expect(outline(await chat.messages())).toEqual(["user: speak up", "assistant: echo: speak up"]);
  });

  it("that keeps failing ends the turn with a reason, and the next message works", async () => {
    const take = system().model.when("fall over", (_request, respond) =>
      respond.status(500, { error: { message: "boom at /srv/internal" } }),
    );
    const chat = talk("failing");
    const { final } = await chat.say("fall over");
    take();
    expect(final).toMatchObject({ kind: "error", error: { code: "model_unavailable", retryable: true } });
    expect(final.text).toMatch(/\w/);
    expect(final.text).not.toContain("internal");
    expect((await chat.say("better?")).final).toMatchObject({ kind: "answer", text: "echo: better?" });
    expectValidHistory(await chat.messages());
  });

  it("that fails once is asked again, and nobody notices", async () => {
    system().model.enqueue((_request, respond) => respond.status(503));
    expect((await talk("hiccup").say("hiccup")).final).toMatchObject({ kind: "answer", text: "echo: hiccup" });
    expect(asked("hiccup")).toBe(2);
  });

  it("that breaks off in the middle is asked again, and the answer is whole", async () => {
    system().model.enqueue((_request, respond) => respond.cut("half an ans"));
    const chat = talk("cut");
    expect((await chat.say("go on")).final).toMatchObject({ kind: "answer", text: "echo: go on" });
    expect(outline(await chat.messages())).toEqual(["user: go on", "assistant: echo: go on"]);
  });

  it("that refuses the key is not asked again, and the key is in no answer", async () => {
    const take = system().model.when("let me in", (_request, respond) =>
      respond.status(401, { error: { message: "Incorrect API key provided: sk-secret" } }),
    );
    const { final } = await talk("refused").say("let me in");
    take();
    expect(final).toMatchObject({ kind: "error", error: { code: "model_refused", retryable: false } });
    expect(final.text).toMatch(/\w/);
    expect(final.text).not.toContain("sk-secret");
    expect(asked("let me in")).toBe(1);
  });
});
