import { once } from "node:events";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { MAX_WAITING_BYTES, SseResponse } from "../src/sse-response.js";

/** A reader that begins to read only when the test says so, and what the server writes to it. */
async function opened(): Promise<{ out: SseResponse; read(): Promise<number>; close(): void }> {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const asking = request({ host: "127.0.0.1", port });
  // The second test ends with a stream that is cut.
  asking.on("error", () => {}).end();
  const [, response] = await once(server, "request");
  const out = new SseResponse(response);
  const answered = new Promise<IncomingMessage>((resolve) => asking.once("response", resolve));
  return {
    out,
    read: async () => {
      const incoming = await answered;
      let length = 0;
      try {
        for await (const part of incoming) length += part.length;
      } catch {
        return -1;
      }
      return length;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const HUGE = "x".repeat(3 * MAX_WAITING_BYTES);

it("one frame that is larger than what may wait arrives, also when a small one follows at once", async () => {
  const { out, read, close } = await opened();
  out.write(HUGE);
  out.write("small");
  expect(out.open).toBe(true);
  const length = read();
  out.end();
  expect(await length).toBe(HUGE.length + 5);
  close();
});

it("a reader behind that frame is cut when more than may wait has gathered", async () => {
  const { out, close } = await opened();
  out.write(HUGE);
  for (let n = 0; n < 3; n++) out.write("y".repeat(MAX_WAITING_BYTES / 2));
  out.write("small");
  expect(out.open).toBe(false);
  close();
});
