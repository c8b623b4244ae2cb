import { ReadableStream } from "node:stream/web";
import { setTimeout as delay } from "node:timers/promises";
import { GatewayFailure } from "./gateway-failure.js";

/**
 * The bytes of an event stream, for as long as something comes. A gateway shows now and then that it is there; one whose
 * host has gone, or that stands still, closes nothing.
 *
 * @param silenceMs how long nothing may come
 * @throws GatewayFailure, retryable, from the stream when nothing has come for that time
 */
export function liveBody(body: ReadableStream<Uint8Array>, silenceMs: number): ReadableStream<Uint8Array> {
  return ReadableStream.from(bytesOf(body, silenceMs));
}

async function* bytesOf(body: ReadableStream<Uint8Array>, silenceMs: number): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { value, done } = await within(silenceMs, reader.read());
      if (done) return;
      yield value;
    }
  } finally {
    // Closes the connection; what is under way on it is of no use to anybody.
    reader.cancel().catch(() => undefined);
  }
}

async function within<T>(ms: number, reading: Promise<T>): Promise<T> {
  const read = new AbortController();
  const silence = delay(ms, undefined, { signal: read.signal }).then(
    () => {
      throw new GatewayFailure("the gateway is silent", { retryable: true });
    },
    () => reading,
  );
  try {
    return await Promise.race([reading, silence]);
  } finally {
    read.abort();
  }
}
