import { expect, it, onTestFinished } from "vitest";
import { createMetrics, Health, startMetricsServer } from "../src/index.js";
import { FixtureProcess } from "./fixture-process.js";

it("serves a service's metrics and readiness from its start to the end of its drain", async () => {
  const service = new FixtureProcess("service", {
    TROUPE_METRICS_PORT: "0",
    FIXTURE_PARTS: JSON.stringify([{ name: "stuck", close: "hang" }]),
    FIXTURE_LIMIT_MS: "60000",
  });
  onTestFinished(() => void service.child.kill("SIGKILL"));
  await service.logged("ready");
  const { port, host } = service.entries.find(({ msg }) => msg === "metrics endpoint open") ?? {};
  expect(host).toBe("127.0.0.1");
  const get = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${String(port)}${path}`);

  const scraped = await get("/metrics");
  expect(scraped.headers.get("content-type")).toContain("version=0.0.4");
  const text = await scraped.text();
  expect(text).toMatch(/^process_resident_memory_bytes\{service="fixture"\} \d{7,}$/m);
  expect(text).toMatch(/^process_cpu_seconds_total\{service="fixture"\} 0?\.?\d/m);
  expect((await get("/healthz")).status).toBe(200);
  const ready = await get("/readyz");
  expect(ready.status).toBe(200);
  expect(await ready.json()).toEqual({
    ready: true,
    phase: "running",
    components: { fixture: { state: "ok" } },
  });

  service.child.kill("SIGTERM");
  await service.logged("closing stuck");
  const draining = await get("/readyz");
  expect(draining.status).toBe(503);
  expect(await draining.json()).toMatchObject({ ready: false, phase: "draining" });
  expect((await get("/healthz")).status).toBe(200);
});

it("opens no port when none is configured", async () => {
  const service = new FixtureProcess("service");
  await service.logged("ready");
  service.child.kill("SIGTERM");
  await service.exited;
  expect(service.messages).not.toContain("metrics endpoint open");
});

it("says in one line that the port is taken", async () => {
  const server = await startMetricsServer({
    host: "127.0.0.1",
    port: 0,
    metrics: createMetrics("first"),
    health: new Health(),
  });
  onTestFinished(() => server.close());
  const second = new FixtureProcess("service", { TROUPE_METRICS_PORT: String(server.port) });
  expect((await second.exited).code).toBe(1);
  expect(second.stderr).toBe(
    `fixture: cannot serve metrics on 127.0.0.1:${server.port} (EADDRINUSE): change TROUPE_METRICS_PORT\n`,
  );
});
