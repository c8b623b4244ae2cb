import { createServer } from "node:net";
import type { ModelOutcome } from "@troupe/contracts";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { createOpenAiModel } from "../src/index.js";
import { apiKey, hello, type Rig, startRig, watchRejections } from "./model-fixture.js";

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(() => rig.server.close());

const rejections = watchRejections();
afterAll(() => expect(rejections()).toEqual([]));

describe("no connection", () => {
  const callAt = (baseUrl: string, key = apiKey): Promise<ModelOutcome> =>
    createOpenAiModel({ baseUrl, apiKey: key, connectTimeoutMs: 500 }).complete(hello, {
      signal: new AbortController().signal,
      onText: () => {},
    });

  test("refused", async () => {
    const { url } = rig.server;
    await rig.server.close();
    expect(await callAt(url)).toMatchObject({
      kind: "failed",
      code: "unreachable",
      retryable: true,
    });
    rig = await startRig();
  });

  test("a host without an address", async () => {
    expect(await callAt("http://no-such-host.invalid/v1")).toMatchObject({
      code: "unreachable",
      retryable: true,
    });
  });

  test("a port that speaks no TLS", async () => {
    const outcome = await callAt(rig.server.url.replace("http:", "https:"));
    expect(outcome).toMatchObject({ code: "unreachable", retryable: false });
  });

  test("a handshake that nobody answers ends at connectTimeoutMs", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    await new Promise((resolve) => silent.once("listening", resolve));
    const address = silent.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    const startedAt = performance.now();
    const outcome = await callAt(`https://127.0.0.1:${address.port}/v1`);
    expect(outcome).toMatchObject({ code: "unreachable", retryable: true });
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    silent.close();
  });

  test("a server that speaks no HTTP", async () => {
    const odd = createServer((socket) => socket.end("hello, stranger\r\n")).listen(0, "127.0.0.1");
    await new Promise((resolve) => odd.once("listening", resolve));
    const address = odd.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    const outcome = await callAt(`http://127.0.0.1:${address.port}/v1`);
    expect(outcome).toMatchObject({ code: "malformed", retryable: false });
    odd.close();
  });

  test("a base URL that is none", async () => {
    expect(await callAt("not a url")).toMatchObject({ code: "refused", retryable: false });
  });
});
