import { afterEach, beforeEach, expect, test } from "vitest";
import { type ScriptedModel, startScriptedModel } from "../src/index.js";

let model: ScriptedModel;
beforeEach(async () => {
  model = await startScriptedModel();
});
afterEach(() => model.close());

const send = (content: string, extra: Record<string, unknown> = {}): Promise<Response> =>
  fetch(`${model.url}/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "m", messages: [{ role: "user", content }], ...extra }),
  });
const ask = async (content: string): Promise<string> => (await send(content)).text();

test("echoes until told otherwise, and keeps what it was asked", async () => {
  expect(await ask("hi")).toContain("echo: hi");
  expect(model.requests[0]).toMatchObject({ n: 1, lastUser: "hi", path: "/v1/chat/completions" });
});

test("a route goes before the queue, the queue before the default, and a later route before an earlier", async () => {
  model.reply((_request, respond) => respond.text("default"));
  model.enqueue((_request, respond) => respond.text("queued"));
  const off = model.when("route", (_request, respond) => respond.text("routed"));
  model.when(/^route 2/, (_request, respond) => respond.text("later"));
  expect(await ask("route 1")).toContain("routed");
  expect(await ask("route 2")).toContain("later");
  expect(await ask("x")).toContain("queued");
  expect(await ask("x")).toContain("default");
  off();
  expect(await ask("route 1")).toContain("default");
});

test("holds the request that is meant and lets others pass", async () => {
  const gate = model.hold("held");
  const held = ask("held");
  expect((await gate.arrived).lastUser).toBe("held");
  expect(await ask("free")).toContain("echo: free");
  gate.release();
  expect(await held).toContain("echo: held");
});

test("a wait ends with the request, whether it is here already or yet to come", async () => {
  const third = model.waitForRequest(3);
  const named = model.waitForRequest(/b$/);
  for (const content of ["a", "b", "c"]) await ask(content);
  expect((await third).lastUser).toBe("c");
  expect((await named).n).toBe(2);
  expect((await model.waitForRequest("a")).n).toBe(1);
});

test("a stream sends what the test sends, when it sends it", async () => {
  let say: (text: string) => void = () => {};
  let end: () => void = () => {};
  model.enqueue((_request, respond) => {
    const stream = respond.stream();
    say = stream.text;
    end = stream.done;
  });
  const response = await send("x", { stream: true });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  say("one");
  expect((await reader?.read())?.value).toContain("one");
  say("two");
  expect((await reader?.read())?.value).toContain("two");
  end();
  expect((await reader?.read())?.value).toContain("[DONE]");
});

test("usage is streamed only if asked for", async () => {
  const plain = await (await send("x", { stream: true })).text();
  const asked = await send("x", { stream: true, stream_options: { include_usage: true } });
  expect(plain).not.toContain("usage");
  expect(await asked.text()).toContain('"prompt_tokens":11');
});

test("a reply that throws is a 500 and is remembered", async () => {
  model.enqueue(() => {
    throw new Error("broken script");
  });
  expect((await send("x")).status).toBe(500);
  expect(String(model.failures[0])).toContain("broken script");
});

test("closing ends what is held and what is silent", async () => {
  model.hold("held");
  model.when("silent", (_request, respond) => respond.stall("half"));
  const held = ask("held").catch(() => "dropped");
  const silent = send("silent", { stream: true })
    .then((response) => response.text())
    .catch(() => "dropped");
  await model.waitForRequest(2);
  await model.close();
  expect(await silent).toBe("dropped");
  await held;
  await expect(send("x")).rejects.toThrow();
  model = await startScriptedModel();
});
