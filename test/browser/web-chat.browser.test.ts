import { describe, expect, it, vi } from "vitest";
import { Conversation } from "../system/conversation.js";
import { findChromium } from "./chromium.js";
import { endAnswer, useChat } from "./use-chat.js";

const executable = findChromium();
if (executable === null)
  console.warn("the web chat is not tested: no Chromium found (set CHROMIUM_BIN, or install one)");

describe.skipIf(executable === null)("the web chat", () => {
  const { system, open, answerTo, restartGateway } = useChat(executable ?? "");

  it("shows an answer as it is written, and its final once", async () => {
    const tab = await open("stream");
    const answer = answerTo("tell me");
    await tab.send("tell me");
    const stream = await answer;
    stream.text("Once upon");
    await tab.preview("Once upon").waitFor();
    stream.text(" a time");
    await tab.preview("Once upon a time").waitFor();
    endAnswer(stream);
    await tab.answered("Once upon a time");
    await tab.page.locator("#stop").waitFor({ state: "hidden" });
    expect(await tab.transcript()).toEqual(["tell me", "Once upon a time"]);
    expect(await tab.page.locator("#announcer").textContent()).toBe("Once upon a time");
  });

  it("throws a preview away when it turns out to be void", async () => {
    const tab = await open("void");
    const answer = answerTo("think");
    await tab.send("think");
    const stream = await answer;
    stream.text("a secret plan");
    await tab.preview("a secret plan").waitFor();
    stream.text("</think>The answer");
    await tab.preview("The answer").waitFor();
    expect(await tab.transcript()).toEqual(["think", "The answer"]);
    endAnswer(stream);
    await tab.answered("The answer");
    expect(await tab.transcript()).toEqual(["think", "The answer"]);
  });

  it("shows tools with what they were asked and gave, between paragraphs of their own", async () => {
    const tab = await open("tools");
    system().model.enqueue(
      (_request, respond) => {
        const stream = respond.stream();
        stream.text("I look.");
        const call = { index: 0, id: "c1", type: "function", function: { name: "echo", arguments: '{"text":"hi"}' } };
        stream.delta({ tool_calls: [call] });
        stream.finish("tool_calls");
        stream.done();
      },
      (_request, respond) => respond.text("Seen."),
    );
    await tab.send("use it");
    await tab.answered("Seen.");
    const seen = ["use it", "I look.", "Seen."];
    await vi.waitFor(async () => expect(await tab.transcript()).toEqual(seen));
    const tool = tab.page.locator(".tool");
    await tab.page.locator('.tool[data-state="done"]').waitFor();
    await tool.locator("summary").click();
    await vi.waitFor(async () => expect(await tool.locator("pre").textContent()).toContain('{"text":"hi"}'));
    await tab.go("tools");
    await tab.answered("Seen.");
    expect(await tab.transcript()).toEqual(seen);
    expect(await tab.page.locator(".tool").count()).toBe(1);
  });

  it("says why there is no answer, also after a reload", async () => {
    const tab = await open("error");
    system().model.enqueue((_request, respond) => respond.status(400, { error: { message: "no" } }));
    await tab.send("fail");
    await tab.line("The model service refused the request.").waitFor();
    await tab.page.locator("#stop").waitFor({ state: "hidden" });
    await tab.go("error");
    await tab.line("The model service refused the request.").waitFor();
    expect(await tab.page.locator(".line.error").count()).toBe(1);
    expect(await tab.page.locator(".answer").count()).toBe(0);
  });

  it("queues a second message, and Esc stops what is running", async () => {
    const tab = await open("cancel");
    const answer = answerTo("long story");
    await tab.send("long story");
    (await answer).text("It was a dark");
    await tab.preview("It was a dark").waitFor();
    await tab.send("and then?");
    await tab.line("Queued.").waitFor();
    await tab.page.keyboard.press("Escape");
    await tab.page.locator("#stop").waitFor({ state: "hidden" });
    // What was written before the cancel is ended by it, too.
    expect(await tab.transcript()).toEqual(["long story", "Cancelled.", "and then?", "Cancelled."]);
    expect(await tab.page.locator(".line.error").count()).toBe(0);
    await tab.send("again");
    await tab.answered("echo: again");
  });

  it("answers a queued message after the one before it", async () => {
    const tab = await open("queue");
    const answer = answerTo("first");
    await tab.send("first");
    const stream = await answer;
    await tab.send("second");
    await tab.line("Queued.").waitFor();
    stream.text("one");
    endAnswer(stream);
    await tab.answered("echo: second");
    expect(await tab.transcript()).toEqual(["first", "one", "second", "echo: second"]);
  });

  it("forgets a conversation only when asked twice", async () => {
    const tab = await open("reset");
    const chat = new Conversation(system(), "reset");
    await tab.send("remember");
    await tab.answered("echo: remember");
    await tab.page.getByRole("button", { name: "Start this conversation over" }).click();
    await tab.page.getByRole("button", { name: "Keep it" }).click();
    expect((await chat.history()).total).toBe(2);
    await tab.page.getByRole("button", { name: "Start this conversation over" }).click();
    await tab.page.getByRole("button", { name: "Start over" }).click();
    await tab.page.locator("#empty:visible").waitFor();
    expect((await chat.history()).total).toBe(0);
    await tab.send("anew");
    await tab.answered("echo: anew");
    expect(await tab.transcript()).toEqual(["anew", "echo: anew"]);
  });

  it("keeps the history over a reload, and shows what is older when asked, without moving what is read", async () => {
    const chat = new Conversation(system(), "paging");
    for (let n = 0; n < 35; n++) await chat.say(`message ${n}`);
    const tab = await open("paging");
    expect((await tab.scroll()).toEnd).toBeLessThan(2);
    expect(await tab.page.locator(".bubble").count()).toBe(30);
    const first = tab.page.locator(".bubble", { hasText: /^message 5$/ });
    await tab.page.locator("#older").scrollIntoViewIfNeeded();
    const before = await first.boundingBox();
    await tab.page.locator("#older").click();
    await tab.page.locator(".bubble", { hasText: /^message 0$/ }).waitFor({ state: "attached" });
    await tab.page.locator("#older").waitFor({ state: "hidden" });
    const after = await first.boundingBox();
    expect(Math.abs((after?.y ?? 0) - (before?.y ?? 0))).toBeLessThan(60);
    expect(await tab.page.locator(".bubble").allTextContents()).toEqual(
      Array.from({ length: 35 }, (_, n) => `message ${n}`),
    );
  });

  it("follows what is written only while its end is in sight", async () => {
    const tab = await open("paging");
    const answer = answerTo("write on");
    await tab.send("write on");
    const stream = await answer;
    stream.text("line\n\n".repeat(60));
    await tab.preview("line").waitFor();
    await vi.waitFor(async () => expect((await tab.scroll()).toEnd).toBeLessThan(2));
    await tab.page.evaluate('document.getElementById("log").scrollTop = 200');
    await tab.page.locator("#to-end").waitFor();
    stream.text("more\n\n".repeat(60));
    await tab.preview("more").waitFor();
    expect((await tab.scroll()).top).toBe(200);
    endAnswer(stream);
    await tab.answered("more");
    await tab.page.locator("#to-end").click();
    await vi.waitFor(async () => expect((await tab.scroll()).toEnd).toBeLessThan(2));
  });

  it("goes on after the gateway was killed: nothing lost, no final twice, no message a second turn", async () => {
    const tab = await open("outage");
    await tab.send("before");
    await tab.answered("echo: before");
    const answer = answerTo("during");
    await tab.send("during");
    const stream = await answer;
    stream.text("half");
    await tab.preview("half").waitFor();
    await system().gateways[0]?.kill("SIGKILL");
    await tab.page.locator("#banner:visible").waitFor();
    await tab.send("into the dark");
    await tab.line("Not sent yet. Trying again…").waitFor();
    stream.text(" and whole");
    endAnswer(stream);
    await restartGateway();
    await tab.page.locator("#banner").waitFor({ state: "hidden" });
    await tab.answered("echo: into the dark");
    const seen = ["before", "echo: before", "during", "half and whole", "into the dark", "echo: into the dark"];
    await vi.waitFor(async () => expect(await tab.transcript()).toEqual(seen));
    await tab.go("outage");
    await vi.waitFor(async () => expect(await tab.transcript()).toEqual(seen));
  });

  it("sends a message that a reload interrupted, once", async () => {
    const tab = await open("reload");
    await system().gateways[0]?.kill("SIGKILL");
    await tab.page.locator("#banner:visible").waitFor();
    await tab.send("do not lose me");
    await tab.line("Not sent yet. Trying again…").waitFor();
    await restartGateway();
    await tab.go("reload");
    await tab.answered("echo: do not lose me");
    expect(await tab.transcript()).toEqual(["do not lose me", "echo: do not lose me"]);
    expect((await new Conversation(system(), "reload").history()).total).toBe(2);
  });
});
