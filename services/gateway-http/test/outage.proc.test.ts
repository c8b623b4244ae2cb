import { afterAll, beforeAll, expect, it } from "vitest";
import { followEvents } from "./event-reader.js";
import { startWorld, type World } from "./gateway-harness.js";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());

const say = (text: string, id?: string) =>
  world.gateway.json("POST", "/v1/sessions/a/messages?wait=30", { text, ...(id ? { id } : {}) });

it("while NATS is down every route says so within seconds, and afterwards all goes on", async () => {
  const reader = await followEvents(world.gateway, "a");
  await say("before");
  await world.nats.kill();
  await expect.poll(async () => (await world.gateway.call("GET", "/readyz")).status).toBe(503);
  expect((await world.gateway.call("GET", "/healthz")).status).toBe(200);

  const startedAt = performance.now();
  const answers = await Promise.all([
    say("during"),
    say("during", "an-id"),
    world.gateway.json("GET", "/v1/sessions"),
    world.gateway.json("GET", "/v1/sessions/a"),
    world.gateway.json("GET", "/v1/sessions/a/messages"),
    world.gateway.json("GET", "/v1/sessions/a/events"),
    world.gateway.json("POST", "/v1/sessions/a/cancel"),
    world.gateway.json("DELETE", "/v1/sessions/a"),
  ]);
  expect(performance.now() - startedAt).toBeLessThan(20_000);
  for (const { status, body, headers } of answers) {
    expect(status).toBe(503);
    expect(body.code).toBe("unavailable");
    expect(headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  }
  const completion = await world.gateway.json("POST", "/v1/chat/completions", {
    model: "troupe",
    messages: [{ role: "user", content: "hi" }],
  });
  expect(completion.status).toBe(503);
  expect(completion.body.error.type).toBe("server_error");

  await world.nats.restart();
  await expect.poll(async () => (await world.gateway.call("GET", "/readyz")).status).toBe(200);
  const after = await say("after");
  expect(after.body).toMatchObject({ status: "done", final: { text: "you said: after" } });
  // The stream that was open all the time goes on too.
  const final = await reader.next(({ data }) => data.includes("you said: after"));
  expect(JSON.parse(final.data)).toEqual(after.body.final);
  reader.close();
});

it("a server that is reached but does not answer is an outage too", async () => {
  await world.nats.kill("SIGSTOP");
  const read = () => world.gateway.json("GET", "/v1/sessions/a");
  // A signal takes its time; from the first unanswered read on the server surely stands still.
  await expect.poll(async () => (await read()).status).toBe(503);
  const startedAt = performance.now();
  const answers = await Promise.all([say("stalled"), say("stalled", "an-id"), read()]);
  expect(performance.now() - startedAt).toBeLessThan(20_000);
  await world.nats.kill("SIGCONT");
  for (const { status, body, headers } of answers) {
    expect(status).toBe(503);
    expect(body.code).toBe("unavailable");
    expect(headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  }
});
