import { createServer, type Socket } from "node:net";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import type { ModelOutcome } from "@troupe/contracts";
import { afterAll, afterEach, expect, test } from "vitest";
import { createOpenAiModel } from "../src/index.js";
import { apiKey, hello, watchRejections } from "./model-fixture.js";

const rejections = watchRejections();
afterAll(() => expect(rejections()).toEqual([]));

const chunk = (delta: object, finish_reason: string | null): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 0, model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const stream = `${chunk({ role: "assistant", content: "hello" }, null)}${chunk({}, "stop")}data: [DONE]\n\n`;
const answer = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${stream.length}\r\n\r\n${stream}`;

let close = (): void => {};
afterEach(() => close());

/** A server of raw connections; `onRequest` gets each request's number on its connection, from 1 on. */
async function startServer(onRequest: (socket: Socket, n: number, connection: number) => void) {
  const sockets = new Set<Socket>();
  let connections = 0;
  let again = 0;
  const server = createServer((socket) => {
    const connection = ++connections;
    let requests = 0;
    let text = "";
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    socket.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      const length = /content-length: (\d+)/i.exec(text)?.[1];
      const head = text.indexOf("\r\n\r\n");
      if (head < 0 || text.length < head + 4 + Number(length ?? 0)) return;
      text = "";
      if (++requests > 1) again += 1;
      onRequest(socket, requests, connection);
    });
  }).listen(0, "127.0.0.1");
  close = () => void server.close();
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const model = createOpenAiModel({ baseUrl: `http://127.0.0.1:${address.port}/v1`, apiKey });
  return {
    connections: () => connections,
    /** Requests over a connection that was kept. */
    again: () => again,
    call: async (signal = new AbortController().signal): Promise<ModelOutcome> => {
      const outcome = await model.complete(hello, { signal, onText: () => {} });
      // The connection goes back to the others behind the answer's end.
      await turnOfTheLoop();
      return outcome;
    },
  };
}

test("a kept connection that the server gave up is no failure: the request goes over a new one", async () => {
  const { call, connections, again } = await startServer((socket, n) => {
    // What a client meets that could not see the end of an idle connection before it used it.
    if (n > 1) socket.resetAndDestroy();
    else socket.write(answer);
  });
  expect(await call()).toMatchObject({ kind: "answer" });
  expect(await call()).toMatchObject({ kind: "answer" });
  expect([connections(), again()]).toEqual([2, 1]);
});

test("so it is for all of them, each asked over one new connection only", async () => {
  let kept = 0;
  const waiting: (() => void)[] = [];
  const { call, connections, again } = await startServer((socket, n) => {
    if (n > 1) return void socket.destroy();
    if (++kept > 3) return void socket.write(answer);
    // Three connections at the same time, kept from then on.
    waiting.push(() => socket.write(answer));
    if (waiting.length === 3) for (const reply of waiting) reply();
    return undefined;
  });
  await Promise.all([call(), call(), call()]);
  const outcomes = await Promise.all([call(), call(), call()]);
  expect(outcomes.map(({ kind }) => kind)).toEqual(["answer", "answer", "answer"]);
  expect([connections(), again()]).toEqual([6, 3]);
});

test("a server that drops the request over a new connection too has failed", async () => {
  const { call, connections, again } = await startServer((socket, n, connection) => {
    if (n === 1 && connection === 1) socket.write(answer);
    else socket.destroy();
  });
  expect(await call()).toMatchObject({ kind: "answer" });
  expect(await call()).toMatchObject({ kind: "failed", code: "cut", retryable: true });
  expect([connections(), again()]).toEqual([2, 1]);
});

test("a call that its caller gave up is not sent again", async () => {
  const caller = new AbortController();
  const { call, connections, again } = await startServer((socket, n) => {
    if (n > 1) caller.abort();
    else socket.write(answer);
  });
  await call();
  expect(await call(caller.signal)).toEqual({ kind: "aborted" });
  expect([connections(), again()]).toEqual([1, 1]);
});
