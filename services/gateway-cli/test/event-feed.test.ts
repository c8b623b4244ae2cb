import { afterEach, beforeEach, expect, it } from "vitest";
import { type EventFeed, openEventFeed } from "../src/event-feed.js";
import { GatewayClient } from "../src/gateway-client.js";
import { eventually } from "./eventually.js";
import { FakeGateway, TOKEN } from "./fake-gateway.js";

const SESSION = "http:quiet";
let gateway: FakeGateway;
let feed: EventFeed | undefined;
beforeEach(async () => {
  gateway = await FakeGateway.start();
});
afterEach(async () => {
  feed?.close();
  await gateway.stop();
});

async function open(silenceMs?: number): Promise<{ readonly told: string[] }> {
  const told: string[] = [];
  const client = new GatewayClient({ url: gateway.url, token: TOKEN, tokenSource: "the test", local: true });
  feed = await openEventFeed(
    client,
    SESSION,
    {
      event: ({ kind }) => told.push(kind),
      lost: (reason) => told.push(`lost: ${reason}`),
      back: () => told.push("back"),
      refused: ({ message }) => told.push(`refused: ${message}`),
    },
    silenceMs,
  );
  return { told };
}

it("makes a new connection when the gateway says nothing any more, and goes on where the old one ended", async () => {
  const { told } = await open(100);
  gateway.durable(SESSION, "notice", { turn: "t_1", level: "info", text: "still working" });
  await eventually(() => expect(told).toContain("back"));
  expect(told.slice(0, 3)).toEqual(["notice", "lost: the gateway is silent", "back"]);
  const streams = gateway.requests.filter(({ path }) => path.endsWith("/events"));
  expect(streams.slice(0, 2).map(({ lastEventId }) => lastEventId)).toEqual([undefined, "1"]);
  // The old connection is closed, not only forgotten.
  await eventually(() => expect(gateway.connected(SESSION)).toBeLessThanOrEqual(1));
});

it("closes its connection at once", async () => {
  await open();
  feed?.close();
  await eventually(() => expect(gateway.connected(SESSION)).toBe(0));
});
