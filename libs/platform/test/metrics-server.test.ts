import { expect, it, onTestFinished } from "vitest";
import { createMetrics, Health, startMetricsServer } from "../src/index.js";

async function serve() {
  const metrics = createMetrics("gateway");
  const health = new Health();
  const server = await startMetricsServer({ host: "127.0.0.1", port: 0, metrics, health });
  onTestFinished(() => server.close());
  const request = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${server.port}${path}`, init);
  return { metrics, health, request };
}

it("shows counters, gauges and histograms with their labels and the service", async () => {
  const { metrics, request } = await serve();
  const turns = metrics.counter({
    name: "troupe_turns_total",
    help: "Turns",
    labelNames: ["kind"],
  });
  turns.inc({ kind: "answer" }, 3);
  metrics.gauge({ name: "troupe_open", help: "Open" }).set(7);
  metrics.histogram({ name: "troupe_turn_seconds", help: "Time", buckets: [0.1, 1] }).observe(0.5);
  const text = await (await request("/metrics")).text();
  expect(text).toContain('troupe_turns_total{kind="answer",service="gateway"} 3');
  expect(text).toContain('troupe_open{service="gateway"} 7');
  expect(text).toContain('troupe_turn_seconds_bucket{le="1",service="gateway"} 1');
});

it("counts CPU time upwards, whatever the number of scrapes", async () => {
  const { request } = await serve();
  const seconds = async () =>
    Number(/^process_cpu_seconds_total\{.*\} (.+)$/m.exec(await (await request("/metrics")).text())?.[1]);
  const first = await seconds();
  const second = await seconds();
  const used = process.cpuUsage();
  expect(first).toBeGreaterThan(0);
  expect(second).toBeGreaterThanOrEqual(first);
  expect(second).toBeLessThanOrEqual((used.user + used.system) / 1e6);
});

it.each([
  ["ok", 200],
  ["degraded", 200],
  ["down", 503],
] as const)("answers /readyz for a running process with a component that is %s with %i", async (state, status) => {
  const { health, request } = await serve();
  health.enter("running");
  health.set("nats", "ok");
  health.set("model", state, "a reason");
  const answer = await request("/readyz");
  expect(answer.status).toBe(status);
  expect(await answer.json()).toMatchObject({
    components: { nats: { state: "ok" }, model: { state, detail: "a reason" } },
  });
});

it("is not ready before the start is done, nor ever again after draining has begun", async () => {
  const { health, request } = await serve();
  expect((await request("/readyz")).status).toBe(503);
  health.enter("running");
  expect((await request("/readyz")).status).toBe(200);
  health.enter("draining");
  health.enter("running");
  expect((await request("/readyz")).status).toBe(503);
});

it("knows no other path and no other method", async () => {
  const { request } = await serve();
  expect((await request("/")).status).toBe(404);
  expect((await request("/metrics", { method: "POST" })).status).toBe(405);
  expect((await request("/metrics?x=1")).status).toBe(200);
});
