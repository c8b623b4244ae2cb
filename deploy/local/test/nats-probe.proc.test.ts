import { createServer, type Server } from "node:net";
import type { AddressInfo } from "node:net";
import { type NatsServer, startNats } from "@troupe/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { probeNats } from "../src/nats-probe.js";

let nats: NatsServer;
let other: Server;
let elsewhere: string;
beforeAll(async () => {
  nats = await startNats();
  // Neither speaks first nor ever answers, as a web server would.
  other = createServer((socket) => void socket.on("error", () => undefined));
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  elsewhere = `127.0.0.1:${(other.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await nats.stop();
  other.close();
});

describe("probeNats", () => {
  it("reads version and JetStream from the greeting, with or without a scheme", async () => {
    const info = { version: expect.stringMatching(/^2\.\d+\.\d+/), jetstream: true };
    expect(await probeNats(nats.url)).toEqual(info);
    expect(await probeNats(`127.0.0.1:${nats.port}`)).toEqual(info);
  });

  it("logs in when asked to", async () => {
    const { user, pass } = nats;
    await expect(probeNats(nats.url, { login: { user, pass } })).resolves.toBeDefined();
    await expect(probeNats(nats.url, { login: { user, pass: "no" } })).rejects.toThrow("Authorization Violation");
  });

  it("takes the first of several addresses that answers", async () => {
    await expect(probeNats(`nats://127.0.0.1:1, ${nats.url}`)).resolves.toBeDefined();
  });

  it("gives up on what does not answer or is no NATS server", async () => {
    await expect(probeNats(elsewhere, { limitMs: 100 })).rejects.toThrow("no answer");
    await expect(probeNats("127.0.0.1:1")).rejects.toThrow("nothing listens there");
    const web = createServer((socket) => {
      socket.on("error", () => undefined).end("HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
    const { port } = web.address() as AddressInfo;
    await expect(probeNats(`127.0.0.1:${port}`)).rejects.toThrow("not a NATS server");
    web.close();
  });
});
