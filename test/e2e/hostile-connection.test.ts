import type { Socket } from "node:net";
import type { ServiceProcess } from "@troupe/testkit";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Conversation } from "../system/conversation.js";
import { useTroupe } from "../system/use-troupe.js";
import {
  ask,
  bytesOf,
  exchange,
  expectNoInternals,
  expectProblem,
  openSocket,
  type RawRequest,
  readAnswer,
} from "./hostile-exchange.js";
import { each } from "./wire-reading.js";

/** Connections that are slow, cut, crowded or garbled: the others go on being served, and nothing is left behind. */
type Headers = NonNullable<RawRequest["headers"]>;

const system = useTroupe();
const MIB = 1024 * 1024;
/** Growth of a process over a repeated storm that garbage not yet collected may explain. */
const RSS_BOUND = 48 * MIB;
/** Longer than the server gives a client for its headers, with the pause between two looks. */
const HEADERS_GONE_MS = 40_000;

const gateway = (): ServiceProcess => {
  const [first] = system().gateways;
  if (first === undefined) throw new Error("no gateway runs");
  return first;
};
const openStreams = (): Promise<number> => gateway().metric("troupe_http_open_streams");
const rss = (): Promise<number> => gateway().metric("process_resident_memory_bytes");
const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => (socket.destroyed ? resolve() : socket.once("close", () => resolve())));

let pid = 0;
let slow: { readonly sockets: Socket[]; readonly answers: Promise<string>[] };
beforeAll(() => {
  pid = gateway().pid;
  // Begun at once, and looked at by the last test: they take their time.
  const beginnings = ["", "GET", "GET /healthz HTTP/1.1\r\n", `GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: `];
  const answers = beginnings.map((start) => exchange(system(), [start], undefined, 90_000));
  const sockets = Array.from({ length: 200 }, () => openSocket(system()));
  for (const socket of sockets) socket.resume().write("POST /v1/sessions/a/messages HTTP/1.1\r\nhost: 127.0.0.1\r\n");
  slow = { sockets, answers };
});
afterAll(async () => {
  expect(gateway().pid).toBe(pid);
  expect(gateway().isRunning).toBe(true);
  expect(gateway().output.lines.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([]);
});

async function served(id: string): Promise<void> {
  expect((await new Conversation(system(), id).say("hello")).final.text).toBe("echo: hello");
}

const eventStream = (session: string): Buffer[] =>
  bytesOf(system(), { path: `/v1/sessions/${session}/events`, headers: { connection: "keep-alive" } });

/** Opens so many event streams, each on a connection of its own; resolves when their heads are here. */
async function openMany(
  count: number,
  session: (n: number) => string,
): Promise<{ socket: Socket; text: () => string }[]> {
  const streams = Array.from({ length: count }, (_, n) => {
    const socket = openSocket(system());
    let text = "";
    socket.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    for (const bytes of eventStream(session(n))) socket.write(bytes);
    return { socket, text: () => text };
  });
  await vi.waitFor(() => expect(streams.filter(({ text }) => text().includes("retry:")).length).toBe(count));
  return streams;
}

async function settled(): Promise<void> {
  await vi.waitFor(async () => expect(await openStreams()).toBe(0), { interval: 100 });
}

describe("a thousand event streams", () => {
  it("get their events while others are served as usual, and leave nothing behind", async () => {
    const before = await rss();
    const streams = await openMany(1_000, (n) => `crowd${n % 50}`);
    expect(await openStreams()).toBe(1_000);
    const times: number[] = [];
    await each(
      Array.from({ length: 200 }, (_, n) => n),
      8,
      async (n) => {
        const startedAt = performance.now();
        await new Conversation(system(), `crowd${n % 100}`).say(`round ${n}`);
        times.push(performance.now() - startedAt);
      },
    );
    await vi.waitFor(() => {
      for (const [n, { text }] of streams.entries()) {
        const finals = text().match(/^event: final$/gm)?.length ?? 0;
        expect(finals, `stream ${n}`).toBe(2);
      }
    });
    const during = await rss();
    for (const { socket } of streams) socket.destroy();
    await settled();
    const p50 = times.toSorted((a, b) => a - b)[100] ?? 0;
    console.log(
      `1,000 event streams: turns p50 ${p50.toFixed(1)} ms; gateway ${(before / MIB).toFixed(0)} MiB before, ${(during / MIB).toFixed(0)} with them, ${((await rss()) / MIB).toFixed(0)} after`,
    );
  });

  it("opened and dropped again and again do not make the process grow", async () => {
    const storm = async (): Promise<void> => {
      for (const { socket } of await openMany(300, (n) => `storm${n}`)) socket.resetAndDestroy();
      await settled();
    };
    for (let n = 0; n < 3; n += 1) await storm();
    const before = await rss();
    for (let n = 0; n < 6; n += 1) await storm();
    const after = await rss();
    console.log(
      `1,800 dropped streams: gateway ${(before / MIB).toFixed(0)} MiB before, ${(after / MIB).toFixed(0)} after`,
    );
    expect(after - before).toBeLessThan(RSS_BOUND);
  });
});

describe("a client that goes away", () => {
  it("in the middle of its body costs nothing, a hundred times over", async () => {
    const head =
      bytesOf(system(), {
        path: "/v1/sessions/half/messages",
        body: "x",
        headers: { "content-length": "100000" },
      })[0] ?? "";
    for (let round = 0; round < 4; round += 1) {
      const sockets = Array.from({ length: 25 }, () => openSocket(system()));
      await Promise.all(
        sockets.map(
          (socket) =>
            new Promise((done) => socket.write(Buffer.concat([Buffer.from(head), Buffer.from(`{"text":"`)]), done)),
        ),
      );
      for (const [n, socket] of sockets.entries()) {
        if (n % 2 === 0) socket.resetAndDestroy();
        else socket.end();
      }
      await Promise.all(sockets.map((socket) => closed(socket.resume())));
    }
    await served("half");
    expect((await new Conversation(system(), "half").history()).total).toBe(2);
  });

  it("while its answer is under way has its turn finished all the same", async () => {
    const gate = system().model.hold("leave me");
    const sockets = ["messages?wait=30", "completions"].map((what) => {
      const socket = openSocket(system());
      const request =
        what === "completions"
          ? {
              path: "/v1/chat/completions",
              body: `{"model":"troupe","user":"left-openai","stream":true,"messages":[{"role":"user","content":"stream to me"}]}`,
            }
          : { path: `/v1/sessions/left/${what}`, body: `{"text":"leave me"}` };
      for (const bytes of bytesOf(system(), request)) socket.write(bytes);
      return socket;
    });
    await gate.arrived;
    await system().model.waitForRequest("stream to me");
    for (const socket of sockets) socket.resetAndDestroy();
    await vi.waitFor(async () => expect(await gateway().metric("troupe_http_waiting_requests")).toBe(0));
    gate.release();
    await new Conversation(system(), "left").until(
      "it is done",
      ({ turn, messageCount }) => turn === null && messageCount === 2,
    );
    await new Conversation(system(), "left-openai").until(
      "it is done",
      ({ turn, messageCount }) => turn === null && messageCount === 2,
    );
    await settled();
  });

  it("for writing only may miss its answer, but not its turn", async () => {
    const message = bytesOf(system(), { path: "/v1/sessions/half-closed/messages?wait=10", body: `{"text":"hello"}` });
    const socket = openSocket(system());
    socket.resume().end(Buffer.concat(message));
    await closed(socket);
    await new Conversation(system(), "half-closed").until(
      "it is done",
      ({ turn, messageCount }) => turn === null && messageCount === 2,
    );
  });
});

describe("one connection", () => {
  it("with many requests at once gets all answers, in order", async () => {
    const requests = Array.from({ length: 50 }, (_, n) =>
      Buffer.concat(
        bytesOf(system(), { path: `/v1/sessions/pipe${n % 5}/messages?wait=20`, body: `{"text":"piped ${n}"}` }),
      ),
    );
    const last = Buffer.concat(bytesOf(system(), { path: "/healthz" }));
    const text = await exchange(system(), [Buffer.concat([...requests, last])]);
    const answers = [...text.matchAll(/"text":"echo: piped (\d+)"/g)].map(([, n]) => Number(n));
    expect(answers).toEqual(requests.map((_, n) => n));
    expect(text).toContain(`{"status":"ok"}`);
  });

  it("with a body that holds another request is not made to do that one", async () => {
    const inner = Buffer.concat(
      bytesOf(system(), { path: "/v1/sessions/smuggled/messages", body: `{"text":"smuggled"}` }),
    ).toString();
    const ambiguous: readonly Headers[] = [
      { "transfer-encoding": "chunked" },
      { "transfer-encoding": "xchunked", "content-length": null },
      { "transfer-encoding ": "chunked" },
      { "content-length": "0\r\ncontent-length: 1" },
    ];
    for (const headers of ambiguous) {
      const text = await exchange(
        system(),
        bytesOf(system(), {
          path: "/v1/sessions/outer/messages",
          body: `0\r\n\r\n${inner}`,
          headers: { ...headers, connection: "close" },
        }),
      );
      expect(readAnswer(text).status, JSON.stringify(headers)).toBe(400);
      expectNoInternals(text);
    }
    expect((await new Conversation(system(), "smuggled").get("")).status).toBe(404);
  });

  it.each([
    ["no HTTP at all", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003"],
    ["an unknown method", "HACK / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"],
    ["an unknown version", "GET / HTTP/7.3\r\nhost: 127.0.0.1\r\n\r\n"],
    ["HTTP/2 without saying so", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["NUL in the path", "GET /\0 HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"],
    ["NUL in a header", "GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: a\0b\r\n\r\n"],
    ["a header without a name", "GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n: x\r\n\r\n"],
    ["folded lines", "GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: a\r\n b\r\nconnection: close\r\n\r\n"],
    ["bare line feeds", "GET / HTTP/1.1\nhost: 127.0.0.1\n\n"],
    ["a chunk of no size", "POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"],
  ])("that brings %s is refused and closed", async (_what, bytes) => {
    const text = await exchange(system(), [bytes]);
    expectProblem(readAnswer(text), 400);
  });

  it("with a flood of headers is refused and closed", async () => {
    const flood = (count: number, length: number): Record<string, string> =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, "y".repeat(length)]));
    for (const headers of [flood(4_000, 1), flood(1, 100_000), { cookie: "a=b; ".repeat(5_000) }]) {
      expectProblem(await ask(system(), { headers }), 431, "headers_too_large");
    }
  });

  it("that asks to become something else stays what it is", async () => {
    const wishes: readonly Headers[] = [
      { connection: "upgrade", upgrade: "websocket" },
      { connection: "Upgrade, HTTP2-Settings", upgrade: "h2c", "http2-settings": "AAMAAABkAAQAAP__" },
    ];
    for (const headers of wishes) {
      const answer = await exchange(system(), bytesOf(system(), { headers }), (text) => text.includes(`"sessions"`));
      expect(readAnswer(answer).status).toBe(200);
    }
    const connect = await exchange(system(), ["CONNECT evil.example:443 HTTP/1.1\r\nhost: evil.example:443\r\n\r\n"]);
    expect(readAnswer(connect).status).not.toBe(200);
  });
});

describe("connections held open by a trickle", () => {
  it("do not keep others waiting, and are closed with a reason", async () => {
    await each(
      Array.from({ length: 20 }, (_, n) => n),
      4,
      (n) => served(`beside${n}`),
    );
    const [silent, ...begun] = await Promise.all(slow.answers);
    for (const text of begun) expectProblem(readAnswer(text), 408, "request_timeout");
    expect(silent).toBeDefined();
    const startedAt = performance.now();
    await Promise.all(slow.sockets.map(closed));
    expect(performance.now() - startedAt).toBeLessThan(HEADERS_GONE_MS);
  });
});
