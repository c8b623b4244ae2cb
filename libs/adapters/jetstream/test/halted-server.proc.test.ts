import { expect, test } from "vitest";
import { eventually } from "./condition.js";
import { startFixture } from "./nats-fixture.js";

test("a server that stands still is given up within ten seconds, and taken again when it goes on", async () => {
  const fixture = await startFixture();
  const bus = await fixture.connect();
  const told: string[] = [];
  bus.onStatus((status, detail) => told.push(`${status}: ${detail}`));
  const startedAt = performance.now();
  await fixture.server.kill("SIGSTOP");
  await eventually(() => !bus.connected(), "the loss of a server that stands still");
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  const place = `127.0.0.1:${fixture.server.port}`;
  expect(told).toEqual([`disconnected: NATS at ${place} does not answer`]);
  await fixture.server.kill("SIGCONT");
  await eventually(() => bus.connected(), "the return of the server");
  expect(told).toHaveLength(2);
  await fixture.stop();
});
