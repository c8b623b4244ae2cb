import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort, type NatsServer, startNats } from "@troupe/testkit";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { gatewayEnv, TOKEN } from "./gateway-harness.js";

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));

let nats: NatsServer;
let dataDir: string;
const children: ChildProcess[] = [];
beforeAll(async () => {
  nats = await startNats();
  dataDir = mkdtempSync(join(tmpdir(), "troupe-gateway-"));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});
afterAll(async () => {
  await nats?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

interface Started {
  readonly child: ChildProcess;
  readonly output: { out: string; err: string };
  readonly exited: Promise<number | null>;
}

/** The service as a process of its own, from source. */
function start(port: number, env: Record<string, string> = {}): Started {
  const child = spawn(process.execPath, ["--conditions=troupe-source", "--import=tsx", MAIN], {
    env: { ...process.env, ...gatewayEnv(nats, dataDir, port), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  const output = { out: "", err: "" };
  child.stdout?.setEncoding("utf8").on("data", (text) => {
    output.out += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text) => {
    output.err += text;
  });
  const exited = once(child, "exit").then(([code]) => code as number | null);
  return { child, output, exited };
}

const ready = (started: Started) => expect.poll(() => started.output.out).toContain('"msg":"ready"');
const authorization = `Bearer ${TOKEN}`;

it("says in one line that its port is taken, and ends with 1", async () => {
  const port = await freePort();
  const other = createServer().listen(port, "127.0.0.1");
  await once(other, "listening");
  const { output, exited } = start(port);
  expect(await exited).toBe(1);
  expect(output.err).toBe(`gateway-http: port ${port} on 127.0.0.1 is taken: set TROUPE_HTTP_PORT to a free one\n`);
  other.close();
});

it("ends within five seconds when asked to: streams with a retry hint, waits with what is known", async () => {
  const port = await freePort();
  const started = start(port);
  await ready(started);
  const base = `http://127.0.0.1:${port}/v1/sessions/a`;
  const stream = await fetch(`${base}/events`, { headers: { authorization } });
  const waiting = fetch(`${base}/messages?wait=300`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: '{"text":"hi"}',
  });
  const completion = fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: '{"model":"troupe","messages":[{"role":"user","content":"hi"}]}',
  });
  await expect.poll(() => waitingRequests(port)).toBe(2);
  const askedAt = performance.now();
  started.child.kill("SIGTERM");
  const text = await stream.text();
  expect(text).toMatch(/retry: \d+\n\n$/);
  expect(await (await waiting).json()).toMatchObject({ status: "waiting" });
  const stopped = await completion;
  expect(stopped.status).toBe(503);
  expect(stopped.headers.get("retry-after")).toBe("1");
  expect(await stopped.json()).toMatchObject({ error: { code: "stopping" } });
  expect(await started.exited).toBe(0);
  expect(performance.now() - askedAt).toBeLessThan(5_000);
});

/** Requests that wait for their final. */
async function waitingRequests(port: number): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { authorization } });
  return Number(/^troupe_http_waiting_requests\{[^}]*\} (\d+)/m.exec(await answer.text())?.[1] ?? 0);
}
