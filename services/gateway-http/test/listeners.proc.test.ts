import { once } from "node:events";
import type { LiveSubscriber, OutboxFeed } from "@troupe/jetstream";
import { createLogger, createMetrics, Health, loadConfig } from "@troupe/platform";
import { freePort } from "@troupe/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { GatewayConfig } from "../src/config.js";
import { closeServer, listen } from "../src/http-server.js";
import { createApp, createGateway } from "../src/wire.js";
import { gatewayEnv, startWorld, TOKEN, type World } from "./gateway-harness.js";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());

it("after 200 requests of every kind, answered or given up, nobody listens any more", async () => {
  const port = await freePort();
  const config = loadConfig(GatewayConfig, { env: gatewayEnv(world.nats, "unused", port), argv: [] });
  const log = createLogger({ service: "gateway-http", level: "silent" });
  const context = {
    config,
    log,
    metrics: createMetrics("gateway-http"),
    health: new Health(),
    stopping: new AbortController().signal,
    open: () => Promise.reject(new Error("nothing is opened here")),
    fail: () => {},
  };
  const made = createGateway(context, world.bus);
  const counted = counting(made);
  const gateway = { ...made, ...counted };
  const feed = await gateway.outbox.start();
  const app = createApp(context, gateway, TOKEN);
  await listen(app, "127.0.0.1", port);

  const url = `http://127.0.0.1:${port}`;
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const send = (path: string, body: unknown, signal?: AbortSignal) =>
    fetch(url + path, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    }).then((response) => response.text());
  const chat = (content: string, stream: boolean) => ({
    model: "troupe",
    stream,
    messages: [{ role: "user", content }],
  });

  // Slow turns end, and impatient clients leave, only when all kinds of requests have begun to listen.
  const gone = new AbortController();
  const { signal } = gone;
  const allBegun = once(signal, "abort");
  world.orchestrator.script = async ({ mail }) => {
    if (mail.text.startsWith("slow")) await allBegun;
    // What is given up on must not be listened to until it ends: this never does.
    if (mail.text.startsWith("never")) await new Promise(() => {});
    return "done";
  };
  void expect
    .poll(() => counted.most())
    .toBeGreaterThan(60)
    .finally(() => gone.abort());
  await Promise.all(
    Array.from({ length: 200 }, (_, n) => {
      const session = `/v1/sessions/s${n % 20}`;
      switch (n % 8) {
        case 0:
          return send(`${session}/messages?wait=10`, { text: "a" });
        case 1:
          return send(`/v1/sessions/never-${n}/messages?wait=0.01`, { text: "never" });
        case 2:
          return send(`${session}/messages?wait=10`, { text: "slow b" }, signal).catch(() => {});
        case 3:
          return send(`${session}/messages?wait=10`, { text: "", id: "x" });
        case 4:
          return send("/v1/chat/completions", chat(`a${n}`, false));
        case 5:
          return send("/v1/chat/completions", chat(`a${n}`, true));
        case 6:
          return send("/v1/chat/completions", chat(`never ${n}`, true), signal).catch(() => {});
        default:
          return fetch(`${url}${session}/events`, { headers, signal })
            .then((response) => response.text())
            .catch(() => {});
      }
    }),
  );
  await expect.poll(() => counted.count()).toBe(0);
  expect(counted.most()).toBeGreaterThan(60);
  expect(gateway.long.size).toBe(0);
  await closeServer(app, gateway.long);
  await feed.stop();
});

/** The same feed and subscriber, with a count of the listeners that have not been ended. */
function counting({ outbox, live }: { outbox: OutboxFeed; live: LiveSubscriber }) {
  let open = 0;
  let most = 0;
  const count = (stop: () => void): (() => void) => {
    open += 1;
    most = Math.max(most, open);
    let ended = false;
    return () => {
      if (!ended) open -= 1;
      ended = true;
      stop();
    };
  };
  return {
    count: () => open,
    most: () => most,
    outbox: { ...outbox, listen: (...args: Parameters<OutboxFeed["listen"]>) => count(outbox.listen(...args)) },
    live: { subscribe: (...args: Parameters<LiveSubscriber["subscribe"]>) => count(live.subscribe(...args)) },
  };
}
