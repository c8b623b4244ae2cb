import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

const main = new URL("../src/main.ts", import.meta.url);
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "troupe-offline-"));
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill("SIGKILL");
});

interface Started {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly exit: Promise<unknown[]>;
}

function start(args: readonly string[]): Started {
  const env = { PATH: process.env["PATH"], TROUPE_DATA: dataDir, TROUPE_PARENT_WATCH: "1" };
  const execArgv = ["--conditions=troupe-source", "--import", "tsx"];
  const started = fork(main, [...args], { env, execArgv, stdio: ["pipe", "pipe", "pipe", "ipc"] });
  children.push(started);
  let output = "";
  const collect = (bytes: Buffer): void => {
    output += bytes.toString();
  };
  started.stdout?.on("data", collect);
  started.stderr?.on("data", collect);
  return { child: started, output: () => output, exit: once(started, "close") };
}

async function urlOf(started: Started): Promise<string> {
  for (;;) {
    const [message] = await once(started.child, "message");
    if (message?.ready === true && typeof message.url === "string") return message.url;
  }
}

async function answerAt(url: string): Promise<string> {
  const body = JSON.stringify({ model: "offline", messages: [{ role: "user", content: "hi" }] });
  const response = await fetch(`${url}/chat/completions`, { method: "POST", body });
  return response.text();
}

test("tells its URL, answers there, and drains on SIGTERM", async () => {
  const started = start(["--port", "0"]);
  const url = await urlOf(started);
  expect(await answerAt(url)).toContain("offline model");
  started.child.kill("SIGTERM");
  expect(await started.exit).toEqual([0, null]);
  expect(started.output()).toContain(url);
});

test("ends when its supervisor's end of stdin closes", async () => {
  const started = start([]);
  await urlOf(started);
  started.child.stdin?.end();
  expect(await started.exit).toEqual([0, null]);
});

test("names a port that is taken, and exits with 1", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const address = other.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const started = start(["--port", String(address.port)]);
  expect(await started.exit).toEqual([1, null]);
  expect(started.output()).toContain(`cannot listen on port ${address.port} (EADDRINUSE)`);
  other.close();
});

test.each([["--port=x"], ["--prot=1"]])("explains its usage on %s", async (arg) => {
  const started = start([arg]);
  expect(await started.exit).toEqual([2, null]);
  expect(started.output()).toContain("usage: offline-model");
});
