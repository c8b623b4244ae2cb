import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Retention, topology } from "@troupe/contracts";
import { type Bus, connectBus, provision } from "@troupe/jetstream";
import { createLogger, createMetrics, Health, loadConfig } from "@troupe/platform";
import { freePort, type NatsServer, startNats } from "@troupe/testkit";
import { GatewayConfig } from "../src/config.js";
import { wire } from "../src/wire.js";
import { type FakeOrchestrator, startFakeOrchestrator } from "./fake-orchestrator.js";

export const TOKEN = "a-token-for-tests";

/** Fields of the answers that tests look at one by one; what they compare as a whole needs no type. */
export interface AnswerBody {
  readonly turn: string;
  readonly code: string;
  readonly duplicate: boolean;
  readonly queued: number;
  readonly next: string | null;
  readonly final?: { readonly text: string };
  readonly waitingFor: unknown;
  readonly errors: readonly { readonly path: string }[];
  readonly sessions: readonly { readonly session: string }[];
  readonly messages: readonly { readonly index: number }[];
  readonly error: { readonly type: string; readonly code: string };
}

export interface RunningGateway {
  readonly url: string;
  readonly port: number;
  /** A request with the token; `body` is sent as JSON. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  /** The same, with the answer's body read as JSON. */
  json(method: string, path: string, body?: unknown): Promise<{ status: number; body: AnswerBody; headers: Headers }>;
  stop(): Promise<void>;
}

export interface World {
  readonly nats: NatsServer;
  /** A connection of its own for what a test does beside the gateway. */
  readonly bus: Bus;
  readonly orchestrator: FakeOrchestrator;
  readonly gateway: RunningGateway;
  startGateway(env?: Record<string, string>): Promise<RunningGateway>;
  stop(): Promise<void>;
}

/** A real server, a fake orchestrator and one gateway. */
export async function startWorld(): Promise<World> {
  const nats = await startNats();
  const bus = await connectBus({ target: nats, name: "test" });
  await provision(bus, topology(Retention.parse(undefined)));
  const orchestrator = await startFakeOrchestrator(bus);
  const gateways: RunningGateway[] = [];
  const start = async (env: Record<string, string> = {}): Promise<RunningGateway> => {
    const gateway = await startGateway(nats, env);
    gateways.push(gateway);
    return gateway;
  };
  return {
    nats,
    bus,
    orchestrator,
    gateway: await start(),
    startGateway: start,
    stop: async () => {
      await Promise.all(gateways.map((gateway) => gateway.stop()));
      await orchestrator.stop();
      await bus.close();
      await nats.stop();
    },
  };
}

export function gatewayEnv(nats: NatsServer, dataDir: string, port: number): Record<string, string> {
  return {
    NATS_URL: nats.url.replace("://", `://${nats.user}:${nats.pass}@`),
    TROUPE_DATA: dataDir,
    TROUPE_TOKEN: TOKEN,
    TROUPE_HTTP_PORT: String(port),
    TROUPE_MODEL: "test-model",
  };
}

/** The service's parts in this process, so that a test sees what it holds open. */
async function startGateway(nats: NatsServer, env: Record<string, string>): Promise<RunningGateway> {
  const dataDir = mkdtempSync(join(tmpdir(), "troupe-gateway-"));
  const port = await freePort();
  const config = loadConfig(GatewayConfig, {
    env: { ...gatewayEnv(nats, dataDir, port), ...env },
    argv: [],
  });
  const health = new Health();
  const closers: (() => unknown)[] = [];
  const stopping = new AbortController();
  await wire({
    config,
    log: createLogger({ service: "gateway-http", level: "silent" }),
    metrics: createMetrics("gateway-http"),
    health,
    stopping: stopping.signal,
    open: async (_name, open, close) => {
      const part = await open();
      closers.unshift(async () => await close?.(part));
      return part;
    },
    fail: (error) => {
      throw error;
    },
  });
  health.enter("running");
  const url = `http://127.0.0.1:${port}`;
  const call: RunningGateway["call"] = (method, path, body, headers = {}) =>
    fetch(url + path, {
      method,
      redirect: "manual",
      headers: {
        authorization: `Bearer ${TOKEN}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  let stopped: Promise<void> | undefined;
  return {
    url,
    port,
    call,
    json: async (method, path, body) => {
      const response = await call(method, path, body);
      const text = await response.text();
      return {
        status: response.status,
        body: text === "" ? null : JSON.parse(text),
        headers: response.headers,
      };
    },
    stop: () => {
      stopped ??= (async () => {
        health.enter("draining");
        stopping.abort();
        for (const close of closers) await close();
        rmSync(dataDir, { recursive: true, force: true });
      })();
      return stopped;
    },
  };
}
