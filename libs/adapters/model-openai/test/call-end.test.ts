import { getEventListeners } from "node:events";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { createOpenAiModel } from "../src/index.js";
import { apiKey, hello, type Rig, startRig, watchRejections } from "./model-fixture.js";

let rig: Rig;
afterEach(() => rig.server.close());

const rejections = watchRejections();
afterAll(() => expect(rejections()).toEqual([]));

describe("an abort", () => {
  test("before the call sends nothing", async () => {
    rig = await startRig();
    const { outcome } = await rig.call({}, { signal: AbortSignal.abort() });
    expect(outcome).toEqual({ kind: "aborted" });
    expect(rig.server.requests).toEqual([]);
  });

  test("while the server thinks ends the call, and the server sees the client leave", async () => {
    rig = await startRig();
    const gate = rig.server.hold();
    const controller = new AbortController();
    const call = rig.call({}, { signal: controller.signal });
    const request = await gate.arrived;
    controller.abort();
    expect((await call).outcome).toEqual({ kind: "aborted" });
    expect(await request.over).toEqual({ clientLeft: true });
  });

  test("in the middle of the stream ends it, and no piece comes afterwards", async () => {
    rig = await startRig();
    rig.server.enqueue((_request, respond) => respond.stall("first"));
    const controller = new AbortController();
    const { outcome, pieces } = await rig.call({}, { signal: controller.signal, onText: () => controller.abort() });
    expect(outcome).toEqual({ kind: "aborted" });
    expect(pieces).toEqual(["first"]);
    const request = await rig.server.waitForRequest(1);
    expect(await request.over).toEqual({ clientLeft: true });
  });

  test("within one packet of pieces stops at the piece that brought it", async () => {
    rig = await startRig();
    const event = (text: string): string => `data: {"choices":[{"delta":{"content":"${text}"}}]}\n\n`;
    rig.server.enqueue((_request, respond) => respond.bytes([event("1") + event("2") + event("3")]));
    const controller = new AbortController();
    const { outcome, pieces } = await rig.call({}, { signal: controller.signal, onText: () => controller.abort() });
    expect(outcome).toEqual({ kind: "aborted" });
    expect(pieces).toEqual(["1"]);
  });

  test("ends the call even where a fetch pays no heed to it", async () => {
    rig = await startRig();
    const deaf: typeof fetch = () => new Promise(() => {});
    const model = createOpenAiModel({ baseUrl: rig.server.url, apiKey, fetch: deaf });
    const controller = new AbortController();
    const call = model.complete(hello, { signal: controller.signal, onText: () => {} });
    controller.abort();
    expect(await call).toEqual({ kind: "aborted" });
  });

  test("leaves no listener on a signal that outlives its calls", async () => {
    rig = await startRig();
    const { signal } = new AbortController();
    for (let n = 0; n < 5; n += 1) await rig.call({}, { signal });
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});

describe("silence", () => {
  test("before the answer's head is a stall, and the connection is closed", async () => {
    rig = await startRig({ stallMs: 1_000 });
    const gate = rig.server.hold();
    const { outcome } = await rig.call();
    expect(outcome).toMatchObject({ kind: "failed", code: "stalled", retryable: true });
    expect(await (await gate.arrived).over).toEqual({ clientLeft: true });
  });

  test("in the middle of the stream is a stall", async () => {
    rig = await startRig({ stallMs: 150 });
    rig.server.enqueue((_request, respond) => respond.stall("half"));
    expect((await rig.call()).outcome).toMatchObject({ kind: "failed", code: "stalled" });
  });

  test("in an error body is a stall", async () => {
    rig = await startRig({ stallMs: 150 });
    rig.server.enqueue((_request, respond) => respond.status(500, "", { "content-length": "10" }));
    expect((await rig.call()).outcome).toMatchObject({ kind: "failed", code: "stalled" });
  });

  test("is broken by keep-alive comments", async () => {
    rig = await startRig({ stallMs: 1_500 });
    rig.server.enqueue((_request, respond) => {
      const stream = respond.stream();
      let n = 0;
      const timer = setInterval(() => {
        stream.raw(": still here\n\n");
        n += 1;
        if (n < 10) return;
        clearInterval(timer);
        stream.text("late");
        stream.finish();
        stream.done();
      }, 250);
    });
    expect((await rig.call()).outcome).toMatchObject({ kind: "answer", text: "late" });
  });

  test("after the finish reason does not cost the answer", async () => {
    rig = await startRig({ stallMs: 60_000 });
    rig.server.enqueue((_request, respond) => {
      const stream = respond.stream();
      stream.text("whole");
      stream.finish("stop");
    });
    expect((await rig.call()).outcome).toMatchObject({
      kind: "answer",
      text: "whole",
      finish: "stop",
    });
  });
});
