import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { connect, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.js";
import { natsServerBinary } from "./nats-server-binary.js";

export interface NatsOptions {
  /** Folder of the JetStream store, kept by `stop`. By default a temporary one that goes with the server. */
  readonly storeDir?: string;
  /** By default a free one. */
  readonly port?: number;
  /** Every write is on the disk before it is acknowledged (`sync_interval: always`). */
  readonly fsync?: boolean;
  /** Lines added to the server's configuration, such as `max_payload: 64KB`; a block that it has already is replaced. */
  readonly config?: string;
}

/** A running server; `restart` keeps port, store and credentials, so that clients can come back to it. */
export interface NatsServer {
  readonly url: string;
  readonly user: string;
  readonly pass: string;
  readonly port: number;
  /** Process id of the server that runs now. */
  readonly pid: number;
  /** Ends it in good order and removes its temporary files. Stopping it twice is fine. */
  stop(): Promise<void>;
  /** Sends a signal, SIGKILL by default; with a signal that ends it, resolves when it is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again, after ending it in good order if it still runs. Resolves when it is ready. */
  restart(): Promise<void>;
}

const CONFIG_FILE = "nats-server.conf";
const READY_LIMIT_MS = 60_000;
/** Signals that a server survives. */
const NOT_ENDING = new Set<NodeJS.Signals>(["SIGSTOP", "SIGCONT", "SIGHUP", "SIGUSR1"]);

/**
 * Waits for the end of its standard input, which comes when the test process is gone, however it went: a test runner
 * that kills its workers leaves them no time to clean up.
 */
const REAPER = 'while read -r _; do :; done; kill -9 "$0" 2>/dev/null; rm -rf "$1"';

/**
 * Starts a real NATS server with JetStream, on loopback and with a login of its own.
 *
 * @throws Error when there is no binary, or with the end of the server's log when it does not become ready
 */
export async function startNats(options: NatsOptions = {}): Promise<NatsServer> {
  const binary = natsServerBinary();
  const folder = mkdtempSync(join(tmpdir(), "troupe-nats-"));
  const login = { user: "test", pass: randomBytes(12).toString("hex") };
  const storeDir = options.storeDir ?? folder;
  const port = options.port ?? (await freePort());
  await writeFile(join(folder, CONFIG_FILE), configOf({ ...login, ...options, port, storeDir }), { mode: 0o600 });
  let server = await launch(binary, folder).catch((error: unknown) => {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  });

  return {
    ...login,
    url: `nats://127.0.0.1:${port}`,
    port,
    get pid() {
      return server.pid;
    },
    stop: async () => {
      await end(server.child, "SIGTERM");
      rmSync(folder, { recursive: true, force: true });
    },
    kill: async (signal = "SIGKILL") => {
      if (NOT_ENDING.has(signal)) server.child.kill(signal);
      else await end(server.child, signal);
    },
    restart: async () => {
      await end(server.child, "SIGTERM");
      server = await launch(binary, folder);
    },
  };
}

interface ConfigParts extends NatsOptions {
  readonly port: number;
  readonly user: string;
  readonly pass: string;
  readonly storeDir: string;
}

function configOf({ port, user, pass, storeDir, fsync = false, config = "" }: ConfigParts): string {
  return `host: 127.0.0.1
port: ${port}
authorization { user: ${user}, password: "${pass}" }
jetstream {
  store_dir: ${JSON.stringify(storeDir)}
${fsync ? "  sync_interval: always\n" : ""}}
${config}
`;
}

interface Launched {
  readonly child: ChildProcess;
  readonly pid: number;
}

async function launch(binary: string, folder: string): Promise<Launched> {
  const args = ["-c", join(folder, CONFIG_FILE)];
  const child = spawn(binary, args, { stdio: ["ignore", "ignore", "pipe"] });
  if (child.pid !== undefined) reapWhenWeAreGone(child, child.pid, folder);
  try {
    const port = await portOnceReady(child);
    await accepts(port);
    return { child, pid: child.pid ?? 0 };
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}

/** The server logs the port that it got, then that it is ready; waiting for these lines needs no polling. */
function portOnceReady(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let log = "";
    let ready = false;
    const fail = (what: string): void => {
      clearTimeout(limit);
      reject(new Error(`NATS server ${what}: ${log.slice(-2_000) || "it wrote nothing"}`));
    };
    const limit = setTimeout(() => fail("was not ready in time"), READY_LIMIT_MS);
    child.on("error", (error) => fail(error.message));
    child.on("exit", (code, signal) => fail(`ended at once (${code ?? signal})`));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      // Read on for ever, or a full pipe would block the server; kept only until it is ready.
      if (ready) return;
      log += text;
      const port = /Listening for client connections on \S*:(\d+)/.exec(log)?.[1];
      if (port === undefined || !log.includes("Server is ready")) return;
      ready = true;
      clearTimeout(limit);
      resolve(Number(port));
    });
  });
}

function accepts(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", reject);
    // The greeting, which a server sends only when it has begun to serve.
    socket.once("data", () => {
      socket.destroy();
      resolve();
    });
  });
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  // A server that was stopped with SIGSTOP acts on nothing else before it goes on.
  if (signal !== "SIGKILL") child.kill("SIGCONT");
  await gone;
}

function reapWhenWeAreGone(child: ChildProcess, pid: number, folder: string): void {
  const reaper = spawn("sh", ["-c", REAPER, String(pid), folder], {
    // Out of reach of a Ctrl-C that ends the test run: it has yet to do its work then.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.once("exit", () => reaper.kill("SIGKILL"));
  // Neither keeps a finished test process waiting.
  reaper.unref();
  child.unref();
  for (const stream of [reaper.stdin, child.stderr]) if (stream instanceof Socket) stream.unref();
}
