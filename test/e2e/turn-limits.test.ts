import { describe, expect, it } from "vitest";
import { Conversation } from "../system/conversation.js";
import { useTroupe } from "../system/use-troupe.js";
import { expectValidHistory } from "../system/valid-history.js";

/** Long enough for turns that end in another way, whatever else the machine does. */
const DEADLINE_MS = 6_000;
const system = useTroupe({ config: `turn: { maxSteps: 3, maxTokens: 100, deadlineMs: ${DEADLINE_MS} }\n` });
const talk = (id: string): Conversation => new Conversation(system(), id);

/** Has the model call a tool whenever it is asked about this, at a price. */
function callForEver(text: string, tokens: number): () => void {
  const usage = { prompt_tokens: tokens, completion_tokens: 0 };
  return system().model.when(text, (_request, respond) => {
    respond.calls([{ name: "echo", arguments: { text: "again" } }], { usage });
  });
}

describe("a turn that would not end", () => {
  it("ends after its steps, with an honest answer", async () => {
    const take = callForEver("step by step", 1);
    const chat = talk("steps");
    const { final } = await chat.say("step by step");
    take();
    expect(final).toMatchObject({ kind: "error", error: { code: "turn_limit" }, text: expect.stringMatching(/\w/) });
    expect(system().model.requests.filter(({ lastUser }) => lastUser === "step by step")).toHaveLength(3);
    expectValidHistory(await chat.messages());
  });

  it("ends when its tokens are used up", async () => {
    const take = callForEver("at any price", 60);
    const chat = talk("tokens");
    const { final } = await chat.say("at any price");
    take();
    expect(final).toMatchObject({
      kind: "error",
      error: { code: "budget_exceeded" },
      text: expect.stringMatching(/\w/),
    });
    expect(system().model.requests.filter(({ lastUser }) => lastUser === "at any price")).toHaveLength(2);
    expectValidHistory(await chat.messages());
  });

  it("ends at its deadline, hangs up on the model, and the next message is answered", async () => {
    const chat = talk("deadline");
    const gate = system().model.hold("take your time");
    const startedAt = performance.now();
    const { final } = await chat.say("take your time");
    expect(performance.now() - startedAt).toBeGreaterThan(DEADLINE_MS * 0.9);
    expect(performance.now() - startedAt).toBeLessThan(DEADLINE_MS + 15_000);
    expect(final).toMatchObject({ kind: "error", error: { code: "deadline" }, text: expect.stringMatching(/\w/) });
    expect(await (await gate.arrived).over).toEqual({ clientLeft: true });
    expect((await chat.say("and now?")).final).toMatchObject({ kind: "answer", text: "echo: and now?" });
  });
});
