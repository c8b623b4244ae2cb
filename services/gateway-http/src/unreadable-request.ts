import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { HttpProblem, problemDocument } from "./problem.js";

/** What Node's parser says of a request that it gave up on, in our words. */
const KNOWN: Readonly<Record<string, readonly [status: number, code: string, detail: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "headers_too_large", "the headers are over 16 KiB"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "request_timeout", "the request did not arrive in time"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "too_large", "the extensions of a chunk are too long"],
};

/**
 * Answers what is no HTTP, or came too slowly: no route and no error handler ever sees it. The connection is
 * over with it, for nobody can tell where the next request would begin.
 */
export function answerUnreadable(error: Error & { readonly code?: string }, socket: Socket): void {
  // Nobody is there to read, or an answer may be half written already: more bytes would only garble it.
  if (!socket.writable || error.code === "ECONNRESET" || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const [status, code, detail] = KNOWN[error.code ?? ""] ?? [
    400,
    "malformed_request",
    "this is not a valid HTTP request",
  ];
  const body = JSON.stringify(problemDocument(new HttpProblem(status, code, detail)));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Error"}`,
    "content-type: application/problem+json",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}
