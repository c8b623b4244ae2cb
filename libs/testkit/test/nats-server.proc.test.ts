import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type NatsServer, startNats } from "../src/nats-server.js";
import { natsServerBinary } from "../src/nats-server-binary.js";

const project = fileURLToPath(new URL("../", import.meta.url));
const tsc = fileURLToPath(import.meta.resolve("typescript/bin/tsc"));

let server: NatsServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

/** Says something to a server and returns its answer up to and including the line that `until` finds. */
function talk(port: number, words: string, until: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(words));
    let text = "";
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`closed after: ${text}`)));
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (!until.test(text)) return;
      resolve(text);
      socket.destroy();
    });
  });
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  await new Promise((resolve) => probe.close(resolve));
  return address.port;
}

const ping = ({ user, pass }: { user: string; pass: string }) =>
  `CONNECT ${JSON.stringify({ user, pass, verbose: false })}\r\nPING\r\n`;

describe("startNats", () => {
  it("serves JetStream on loopback to whoever has the login, and to nobody else", async () => {
    server = await startNats();
    expect(server.url).toBe(`nats://127.0.0.1:${server.port}`);
    const answer = await talk(server.port, ping(server), /PONG/);
    expect(answer).toMatch(/^INFO .*"jetstream":true/);
    const refused = await talk(server.port, ping({ user: "test", pass: "wrong" }), /-ERR/);
    expect(refused).toContain("Authorization Violation");
  });

  it("has every write on disk first when asked to, in its own store all the same", async () => {
    const port = await freePort();
    const monitored = { config: `http: 127.0.0.1:${port}` };
    const jetstream = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/jsz`)).text();
    const storeDir = mkdtempSync(join(tmpdir(), "nats-store-"));
    server = await startNats({ ...monitored, storeDir, fsync: true });
    const fsynced = await jetstream();
    expect(fsynced).toContain('"sync_always": true');
    expect(fsynced).toContain(`"store_dir": ${JSON.stringify(join(storeDir, "jetstream"))}`);
    await server.stop();
    server = await startNats({ ...monitored, storeDir });
    expect(await jetstream()).not.toContain('"sync_always": true');
    await server.stop();
    rmSync(storeDir, { recursive: true, force: true });
  });

  it("comes back on its port after SIGKILL", async () => {
    server = await startNats();
    const { port, pid } = server;
    await server.kill();
    await expect(talk(port, "", /INFO/)).rejects.toThrow("ECONNREFUSED");
    await server.restart();
    expect(server.pid).not.toBe(pid);
    expect(await talk(port, ping(server), /PONG/)).toContain("PONG");
  });

  it("goes at stop, with its temporary files; a store of one's own stays", async () => {
    const storeDir = mkdtempSync(join(tmpdir(), "troupe-store-"));
    try {
      server = await startNats({ storeDir });
      const { port, pid } = server;
      await server.stop();
      await expect(talk(port, "", /INFO/)).rejects.toThrow("ECONNREFUSED");
      expect(existsSync(`/proc/${pid}`)).toBe(false);
      expect(statSync(join(storeDir, "jetstream")).isDirectory()).toBe(true);
    } finally {
      rmSync(storeDir, { recursive: true, force: true });
    }
  });

  it("does not outlive a test process that was killed, nor do its files", async () => {
    // A process of its own needs JavaScript: Node 20 reads no TypeScript.
    execFileSync(process.execPath, [tsc, "-b", project]);
    const script = `
      const { startNats } = await import(${JSON.stringify(new URL("../dist/nats-server.js", import.meta.url).href)});
      const { pid, port } = await startNats();
      process.send({ pid, port });
      setInterval(() => {}, 1e6);`;
    const test = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    const ended = once(test, "exit").then(() => expect.unreachable("the script ended at once"));
    const [{ pid, port }] = (await Promise.race([once(test, "message"), ended])) as [{ pid: number; port: number }];
    const folder = /-c\0([^\0]+)\/nats-server.conf/.exec(readFileSync(`/proc/${pid}/cmdline`, "utf8"))?.[1] ?? "";
    expect(existsSync(folder)).toBe(true);
    // The connection stays open for as long as the server lives.
    const closed = talk(port, "", /never/);
    test.kill("SIGKILL");
    await expect(closed).rejects.toThrow(/closed|ECONNRESET/);
    await vi.waitFor(() => expect(existsSync(folder)).toBe(false));
  });

  it("takes further lines of configuration", async () => {
    server = await startNats({ config: "max_payload: 4KB" });
    expect(await talk(server.port, "", /\n/)).toContain('"max_payload":4096');
  });

  it("fails with the server's own reason when its port is taken", async () => {
    server = await startNats();
    await expect(startNats({ port: server.port })).rejects.toThrow("address already in use");
  });
});

describe("natsServerBinary", () => {
  it("takes the one that the environment names", () => {
    expect(natsServerBinary({ NATS_SERVER_BIN: "/opt/one" })).toBe("/opt/one");
  });
});
