import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, natsServerBinary } from "@troupe/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bus, BusError, connectBus, statePort } from "../src/index.js";
import { eventually } from "./condition.js";
import { startFakeNats } from "./fake-nats.js";
import { keyOf, type NatsFixture, provisioned, startFixture } from "./nats-fixture.js";

let fixture: NatsFixture;

beforeAll(async () => {
  fixture = await startFixture({ config: "max_payload: 256KB" });
});
afterAll(() => fixture?.stop());

const failure = async (promise: Promise<Bus>): Promise<unknown> => {
  try {
    const bus = await promise;
    await bus.close();
    return "connected";
  } catch (cause) {
    return cause;
  }
};

test("a connection tells the server's version and the largest payload", async () => {
  const bus = await fixture.connect();
  expect(bus.connected()).toBe(true);
  expect(bus.maxPayload).toBe(256 * 1024);
  expect(bus.serverVersion).toMatch(/^2\.\d+\.\d+/);
});

test("credentials may stand in the URL", async () => {
  const { user, pass, port } = fixture.server;
  const bus = await connectBus({ target: { url: `nats://${user}:${pass}@127.0.0.1:${port}` }, name: "test" });
  expect(bus.connected()).toBe(true);
  await bus.close();
});

test("a token works, by itself or in the URL", async () => {
  const guarded = await startFixture({ config: 'authorization { token: "s3cret/1" }' });
  const { url } = guarded.server;
  const targets = [{ url, token: "s3cret/1" }, { url: url.replace("://", "://s3cret%2F1@") }];
  for (const target of targets) {
    const bus = await connectBus({ target, name: "test" });
    expect(bus.connected()).toBe(true);
    await bus.close();
  }
  expect(String(await failure(connectBus({ target: { url, token: "wrong" }, name: "test", waitMs: 200 })))).toMatch(
    /refuses the credentials$/,
  );
  await guarded.stop();
});

test("a server that is too old is refused with both versions named", async () => {
  const fake = await startFakeNats("2.10.4");
  const cause = await failure(connectBus({ target: { url: fake.url }, name: "test" }));
  expect(cause).toBeInstanceOf(BusError);
  expect(String(cause)).toBe("BusError: NATS server 2.10.4 is too old: 2.12 or newer is needed");
  await fake.stop();
});

test("a server of version 2.12 that does not answer for JetStream is said to be silent", async () => {
  const fake = await startFakeNats("2.12.0");
  const cause = await failure(connectBus({ target: { url: fake.url }, name: "test", waitMs: 200 }));
  expect(String(cause)).toMatch(/^BusError: JetStream on the NATS server at 127\.0\.0\.1:\d+ does not answer$/);
  await fake.stop();
});

test("an unreachable server is one line with the place and no password, after the time given", async () => {
  const port = await freePort();
  const startedAt = performance.now();
  const target = { url: `nats://me:secret@127.0.0.1:${port}` };
  const cause = await failure(connectBus({ target, name: "test", waitMs: 600 }));
  expect(cause).toBeInstanceOf(BusError);
  expect(String(cause)).toMatch(new RegExp(`^BusError: NATS is not reachable at 127\\.0\\.0\\.1:${port}: [^\\n]+$`));
  expect(String(cause)).not.toContain("secret");
  expect(performance.now() - startedAt).toBeLessThan(8_000);
});

test("a server that comes up within the time given is connected to", async () => {
  const late = await startFixture();
  await late.server.kill();
  const connecting = connectBus({ target: late.server, name: "test", waitMs: 10_000 });
  await late.server.restart();
  const bus = await connecting;
  expect(bus.connected()).toBe(true);
  await bus.close();
  await late.stop();
});

test("a wrong password is said at once", async () => {
  const startedAt = performance.now();
  const target = { url: fixture.server.url, user: fixture.server.user, pass: "wrong" };
  const cause = await failure(connectBus({ target, name: "test" }));
  expect(String(cause)).toBe(`BusError: NATS at 127.0.0.1:${fixture.server.port} refuses the credentials`);
  expect(performance.now() - startedAt).toBeLessThan(9_000);
});

test("a server without JetStream is said to be without it", async () => {
  const port = await freePort();
  const config = join(tmpdir(), `troupe-plain-${process.pid}-${port}.conf`);
  await writeFile(config, `host: 127.0.0.1\nport: ${port}\n`);
  const child = spawn(natsServerBinary(), ["-c", config], { stdio: "ignore" });
  const cause = await failure(connectBus({ target: { url: `nats://127.0.0.1:${port}` }, name: "test" }));
  child.kill("SIGKILL");
  expect(String(cause)).toBe(`BusError: JetStream is off on the NATS server at 127.0.0.1:${port}`);
});

test("the loss of the server and its return are told, and operations work again", async () => {
  const own = await startFixture();
  const bus = await provisioned(own);
  const told: string[] = [];
  bus.onStatus((status) => told.push(status));
  const state = statePort(bus);
  await state.write(keyOf("back"), "one", 0);
  await own.server.kill();
  await eventually(() => !bus.connected());
  await own.server.restart();
  await eventually(() => bus.connected());
  expect((await state.read(keyOf("back"), "leader"))?.text).toBe("one");
  expect(told).toEqual(["disconnected", "connected"]);
  await own.stop();
});

test("close ends within seconds, with the server there, gone, or frozen", async () => {
  for (const signal of [undefined, "SIGKILL", "SIGSTOP"] as const) {
    const own = await startFixture();
    const bus = await own.connect();
    if (signal !== undefined) await own.server.kill(signal);
    const startedAt = performance.now();
    await bus.close();
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(bus.connected()).toBe(false);
    await expect(statePort(bus).read(keyOf("a"), "any")).rejects.toThrow(/closed/);
    await own.stop();
  }
});
