/*
 * A `fetch` over node:http for OpenAI's client. Node's own fetch takes three times the processor time
 * per call, has a fixed limit for connecting (10 s) and for silence (5 min), and streams its bodies
 * through web streams. What it does beyond this (redirects, caching, encodings) no model server needs.
 *
 * The head of an answer goes to the client as a `Response`; the body stays a Node stream, which
 * `bodyOf` gives out.
 */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Socket } from "node:net";

export interface Transport {
  readonly fetch: typeof globalThis.fetch;
  /** The bytes of a response that `fetch` returned; to be read once. */
  bodyOf(response: Response): AsyncIterable<Uint8Array>;
}

/** Below the five seconds after which many servers close idle connections: a later use would meet the closing. */
const idleMs = 4_000;

/** An error's words fit into this; what is longer is cut off. */
const maxErrorBytes = 256 * 1024;

/** @param connectTimeoutMs how long making a connection may take, the TLS handshake included. */
export function createTransport(connectTimeoutMs: number): Transport {
  const agents = {
    http: new HttpAgent({ keepAlive: true, timeout: idleMs }),
    https: new HttpsAgent({ keepAlive: true, timeout: idleMs }),
  };
  const bodies = new WeakMap<Response, IncomingMessage>();
  return {
    fetch: async (input, init = {}) => {
      init.signal?.throwIfAborted();
      const url = new URL(input instanceof Request ? input.url : input);
      const isTls = url.protocol === "https:";
      const options: RequestOptions = {
        method: init.method ?? "GET",
        headers: Object.fromEntries(init.headers instanceof Headers ? init.headers : new Headers(init.headers)),
        agent: isTls ? agents.https : agents.http,
      };
      const body = typeof init.body === "string" ? init.body : "";
      const signal = init.signal ?? undefined;
      const sending = { url, options, body, connectTimeoutMs, signal };
      // Once, over a connection of its own: what fails there too is no accident of the pool.
      const incoming = await send(sending).catch((error: unknown) => {
        if (!(error instanceof ClosedWhileIdle)) throw error;
        return send({ ...sending, options: { ...options, agent: false } });
      });
      const head = { status: incoming.statusCode ?? 0, headers: headersOf(incoming) };
      if (head.status >= 200 && head.status < 300) {
        const response = new Response(null, head);
        bodies.set(response, incoming);
        return response;
      }
      const words = await readStart(incoming);
      return new Response(words === "" ? null : words, head);
    },
    bodyOf: (response) => bodies.get(response) ?? bytesOf(response),
  };
}

/** The bytes of a response with a body of its own, as any other `fetch` returns it. */
export function bytesOf(response: Response): AsyncIterable<Uint8Array> {
  return response.body ?? new Blob([]).stream();
}

/**
 * The server had closed a kept connection before it heard of the request, which is no failure of the model. Happens
 * where a process could not take notice in time: its machine was busy, or it stood still. What Node says of such a
 * request: https://nodejs.org/docs/latest-v20.x/api/http.html#requestreusedsocket.
 */
class ClosedWhileIdle extends Error {
  override readonly name = "ClosedWhileIdle";
}

function isClosedWhileIdle({ code }: NodeJS.ErrnoException): boolean {
  return code === "ECONNRESET" || code === "EPIPE";
}

interface Sending {
  readonly url: URL;
  readonly options: RequestOptions;
  readonly body: string;
  readonly connectTimeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

function send({ url, options, body, connectTimeoutMs, signal }: Sending): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const isTls = url.protocol === "https:";
    const request = (isTls ? httpsRequest : httpRequest)(url, options, (incoming) => {
      // A body that nobody reads any more may break; without a listener that would be a crash.
      incoming.on("error", () => {});
      resolve(incoming);
    });
    request.on("error", (error) => {
      const isTooLate = request.reusedSocket && isClosedWhileIdle(error) && signal?.aborted !== true;
      reject(isTooLate ? new ClosedWhileIdle(error.message, { cause: error }) : error);
    });
    // Not the request's own `signal`: that one destroys with an error, which is thrown into the process
    // when it meets the socket between its last byte and its return to the agent.
    const drop = (): void => void request.destroy();
    signal?.addEventListener("abort", drop, { once: true });
    request.once("close", () => signal?.removeEventListener("abort", drop));
    request.once("socket", (socket: Socket) => {
      if (!socket.connecting) return;
      // Errors reach the request while there is one; an idle socket's end is no news.
      socket.on("error", () => {});
      const late = (): void => {
        request.destroy(new Error(`connecting timed out after ${connectTimeoutMs} ms`));
      };
      const timer = setTimeout(late, connectTimeoutMs);
      const stop = (): void => clearTimeout(timer);
      socket.once(isTls ? "secureConnect" : "connect", stop).once("close", stop);
    });
    // With its length known, the body goes out in one write with the head.
    if (body !== "") request.setHeader("content-length", Buffer.byteLength(body));
    request.end(body);
  });
}

function headersOf(incoming: IncomingMessage): [string, string][] {
  return Object.entries(incoming.headersDistinct).flatMap(([name, values]) =>
    (values ?? []).map((value): [string, string] => [name, value]),
  );
}

async function readStart(incoming: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of incoming) {
    parts.push(part);
    size += part.length;
    if (size > maxErrorBytes) break;
  }
  return Buffer.concat(parts).toString("utf8");
}
