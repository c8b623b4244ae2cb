import { statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { natsServerBinary, startNats } from "@troupe/testkit";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { probeNats } from "../src/nats-probe.js";
import { buildProject, Installation } from "./installation.js";

let here: Installation;
beforeAll(buildProject);
beforeEach(() => {
  here = new Installation({ PATH: process.env.PATH, NATS_SERVER_BIN: natsServerBinary() });
});
afterEach(() => here.sweep());

const natsAccess = (): { url: string; user: string; pass: string } => JSON.parse(here.read("nats.json"));

describe("a start", () => {
  it("brings up NATS and the services, and leaves their addresses for their owner alone", async () => {
    const start = here.start();
    const [, console = ""] = await start.isReady;
    expect(await (await fetch(console)).text()).toBe("ok");
    expect(new URL(console).searchParams.get("token")).toBe(here.read("keys/http-token").trim());

    const { url, user, pass } = natsAccess();
    expect(await probeNats(url, { login: { user, pass } })).toMatchObject({ jetstream: true });
    await expect(probeNats(url, { login: { user, pass: "no" } })).rejects.toThrow("Authorization");
    expect(JSON.parse(here.read("gateway.json"))).toEqual({ url: new URL(console).origin });
    for (const name of ["nats.json", "nats-server.conf", "gateway.json"]) {
      expect(statSync(join(here.dataFolder, name)).mode & 0o777).toBe(0o600);
    }
    const model = JSON.parse(here.read("offline-model.json"));
    expect(await (await fetch(model.url)).text()).toBe("ok");
    expect(start.out).toContain("no model server is configured, the offline model answers");
    expect(start.out).toMatch(/actor +warn: hello at=work/);
  });

  it("runs no offline model when a model server is configured", async () => {
    writeFileSync(join(here.dataFolder, "offline-model.json"), '{"url":"http://127.0.0.1:1"}');
    const start = here.start({ OPENAI_API_KEY: "", OPENAI_BASE_URL: "http://127.0.0.1:1/v1" });
    await start.isReady;
    expect(start.out).not.toContain("model is ready");
    expect(here.read("offline-model.json")).toBe("");
  });

  it("uses the server that NATS_URL names and starts none", async () => {
    const nats = await startNats();
    try {
      const start = here.start({ NATS_URL: nats.url });
      await start.isReady;
      expect(() => here.pidOf(/nats-server/)).toThrow("no process");
    } finally {
      await nats.stop();
    }
  });

  it("refuses a server that is too old, naming both versions", async () => {
    const old = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.write('INFO {"version":"2.9.10","jetstream":true}\r\n');
    });
    await new Promise<void>((resolve) => old.listen(0, "127.0.0.1", resolve));
    const start = here.start({
      NATS_URL: `nats://127.0.0.1:${(old.address() as AddressInfo).port}`,
    });
    expect(await start.ended).toBe(1);
    expect(start.err).toBe("troupe: NATS: version 2.9.10 found, 2.12 needed\n");
    old.close();
  });

  it("ends with the one-line reason of a service that refuses to start", async () => {
    const start = here.start({ FIXTURE_ACTOR: "refuse" });
    expect(await start.ended).toBe(1);
    expect(start.err).toBe("troupe: actor: port 7070 is taken\n");
    await here.gone();
  });

  it("ends with one line when the data folder cannot be made", async () => {
    writeFileSync(join(here.dataFolder, "file"), "");
    const folder = join(here.dataFolder, "file", "data");
    const start = here.start({ TROUPE_DATA: folder });
    expect(await start.ended).toBe(1);
    expect(start.err).toMatch(/^troupe: data folder \S+: a file is in the way of a folder .*\n$/);
  });

  it("ends with one line for a wrong setting", async () => {
    const start = here.start({ TROUPE_HTTP_PORT: "seventy" });
    expect(await start.ended).toBe(1);
    expect(start.err).toMatch(/^troupe: configuration: TROUPE_HTTP_PORT: .*\n$/);
    await here.gone();
  });
});

describe("two starts on one data folder", () => {
  it("the second gives way, the first goes on", async () => {
    const first = here.start();
    await first.isReady;
    const second = here.start();
    expect(await second.ended).toBe(1);
    expect(second.err).toMatch(/^troupe: already running on \S+ \(process (\d+)\).*\n$/);
    expect(second.err).toContain(String(first.child.pid));
    await expect(probeNats(natsAccess().url)).resolves.toBeDefined();
  });

  it("the lock of a killed one is taken over; the port and the password stay the same", async () => {
    const first = here.start();
    await first.isReady;
    const access = natsAccess();
    first.child.kill("SIGKILL");
    await here.gone();
    const second = here.start();
    await second.isReady;
    expect(natsAccess()).toEqual(access);
  });

  it("another port is chosen when the old one is taken meanwhile", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as AddressInfo;
    const old = { url: `nats://127.0.0.1:${port}`, user: "troupe", pass: "kept" };
    writeFileSync(join(here.dataFolder, "nats.json"), JSON.stringify(old));
    await here.start().isReady;
    expect(natsAccess().url).not.toBe(old.url);
    expect(natsAccess().pass).toBe("kept");
    taken.close();
  });
});

describe("a process that dies", () => {
  it("is started again after a while that doubles", async () => {
    const start = here.start();
    await start.isReady;
    for (const seconds of [0.2, 0.4]) {
      process.kill(here.pidOf(/service\.mjs actor/), "SIGKILL");
      await start.says(new RegExp(`actor was killed \\(SIGKILL\\), starting it again in ${seconds} s`));
      await start.says(new RegExp(`again in ${seconds} s[^]*actor is back`));
    }
  });

  it("NATS comes back on its port, and the model on its own", async () => {
    const start = here.start();
    await start.isReady;
    const access = natsAccess();
    const model = here.read("offline-model.json");
    process.kill(here.pidOf(/^\S*nats-server\S* -c/), "SIGKILL");
    process.kill(here.pidOf(/service\.mjs model/), "SIGKILL");
    await start.says(/nats-server is back/);
    await start.says(/model is back/);
    const { user, pass } = access;
    await expect(probeNats(access.url, { login: { user, pass } })).resolves.toBeDefined();
    expect(await (await fetch(JSON.parse(model).url)).text()).toBe("ok");
  });
});

describe("the end", () => {
  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "%s stops all in reverse order and leaves no process",
    async (signal) => {
      const start = here.start();
      await start.isReady;
      expect(here.processes().size).toBeGreaterThan(6);
      start.child.kill(signal);
      expect(await start.ended).toBe(0);
      await here.gone();
      expect(here.read("offline-model.json")).toBe("");
      expect(here.read("gateway.json")).toBe("");
      expect(here.read("ends")).toBe("gate SIGTERM\nactor SIGTERM\nmodel SIGTERM\n");
    },
  );

  it("SIGKILL of the root leaves no process", async () => {
    const start = here.start();
    await start.isReady;
    start.child.kill("SIGKILL");
    await here.gone();
    expect(here.read("ends").split("\n").sort().join(" ").trim()).toBe("actor stdin gate stdin model stdin");
  });

  it("a stop during the start leaves no process", async () => {
    const start = here.start({ FIXTURE_MODEL: "mute" });
    await start.says(/gate is ready/);
    start.child.kill("SIGTERM");
    expect(await start.ended).toBe(0);
    await here.gone();
  });

  it("a service that ignores the request is killed within the 10 s", async () => {
    const start = here.start({ FIXTURE_ACTOR: "deaf", FIXTURE_GATE: "deaf" });
    await start.isReady;
    const startedAt = performance.now();
    start.child.kill("SIGTERM");
    expect(await start.ended).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    await here.gone();
  });
});

describe("in a terminal", () => {
  it("opens the chat, keeps the logs in files, and stops all when the chat ends", async () => {
    const start = here.startInTerminal();
    await start.says(/chat on port \d+/);
    start.child.stdin?.write("hello\n");
    await start.says(/chat: you said hello/);
    expect(here.read("logs/actor.log")).toContain('"msg":"hello"');
    expect(start.out).not.toContain("Server is ready");
    expect(here.read("logs/nats-server.log")).toContain("Server is ready");
    expect(here.read("logs/troupe.log")).not.toContain(here.read("keys/http-token").trim());
    start.child.stdin?.write("bye\n");
    expect(await start.ended).toBe(0);
    await here.gone();
  });

  it("leaves Ctrl-C to the chat", async () => {
    const start = here.startInTerminal();
    await start.says(/chat on port/);
    start.child.stdin?.write("\x03");
    await start.says(/Ctrl-C is mine/);
    start.child.stdin?.write("still there\n");
    await start.says(/you said still there/);
  });

  it("shows warnings of the services before the chat opens, a wrong key for one", async () => {
    const start = here.startInTerminal();
    await start.says(/actor +warn: hello at=work[^]*chat on port/);
  });

  it("leaves no process when the terminal is closed", async () => {
    const start = here.startInTerminal();
    await start.says(/chat on port/);
    start.child.kill("SIGKILL");
    await here.gone();
  });
});
