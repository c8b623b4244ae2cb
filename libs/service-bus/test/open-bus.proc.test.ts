import { Retention } from "@troupe/contracts";
import { type Bus, mailSender } from "@troupe/jetstream";
import { createLogger, createMetrics, Health, type ServiceContext, StartError } from "@troupe/platform";
import { type NatsServer, startNats } from "@troupe/testkit";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type BusConfig, openBus } from "../src/index.js";

const MIB = 1024 * 1024;

let nats: NatsServer;
let closers: (() => unknown)[];
beforeEach(async () => {
  closers = [];
  nats = await startNats();
});
afterEach(async () => {
  for (const close of closers.reverse()) await close();
  await nats.stop();
});

/** A service that starts with this `retention`; what it warned of, and its connection. */
async function start(retention: unknown): Promise<{ bus: Bus; warned: string[] }> {
  const log = createLogger({ service: "test", level: "warn" });
  const warn = vi.spyOn(log, "warn").mockReturnValue();
  const context: ServiceContext<BusConfig> = {
    config: { nats: { url: nats.url, user: nats.user, pass: nats.pass }, retention: Retention.parse(retention) },
    log,
    metrics: createMetrics("test"),
    health: new Health(),
    stopping: new AbortController().signal,
    open: async (_name, open, close) => {
      const part = await open();
      if (close !== undefined) closers.push(() => close(part));
      return part;
    },
    fail: (error) => {
      throw error;
    },
  };
  const bus = await openBus(context, "test");
  return { bus, warned: warn.mock.calls.map((call) => String(call[1])) };
}

const small = { sessions: { maxBytes: MIB }, outbox: { maxBytes: MIB } };
const HINT = "for all services: each needs the same TROUPE_CONFIG";

test("a service that starts with other limits than the system has warns of each that it changes", async () => {
  expect((await start(small)).warned).toEqual([]);
  expect((await start(small)).warned).toEqual([]);
  expect((await start(undefined)).warned).toEqual([
    `retention.outbox.maxBytes: 1048576 → 536870912, ${HINT}`,
    `retention.sessions.maxBytes: 1048576 → 1073741824, ${HINT}`,
    `bucket deliveries maxBytes: 268435456 → 1073741824, ${HINT}`,
  ]);
  expect((await start(undefined)).warned).toEqual([]);
});

test("a service whose sizes do not fit does not start: one line says why, and nothing was changed", async () => {
  const { bus } = await start(undefined);
  const sender = mailSender(bus);
  for (const id of ["1", "2"]) {
    await sender.send({ subject: "mail.session.http.a.in", id, body: "x".repeat(600 * 1024) });
  }
  const cause = await start({ ...small, mail: { maxBytes: MIB } }).catch((error: unknown) => error);
  expect(cause).toBeInstanceOf(StartError);
  expect(String(cause)).toMatch(
    /MAIL already holds \d{7} bytes, more than retention\.mail\.maxBytes allows \(1048576\): raise it; all services need the same TROUPE_CONFIG$/,
  );
  expect((await start(undefined)).warned).toEqual([]);
});
