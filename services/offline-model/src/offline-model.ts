import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { streamAnswer } from "./answer-stream.js";
import { readChatRequest } from "./chat-request.js";
import { wholeCompletion } from "./completion.js";
import { RequestError } from "./request-error.js";
import { chooseScript } from "./script.js";

const maxBodyBytes = 8 * 1024 * 1024;

export interface OfflineModel {
  /** Base URL for a client, ending in `/v1`. */
  readonly url: string;
  /** Takes no more requests and resolves when those at hand are answered; slow answers are hurried. */
  close(): Promise<void>;
}

/**
 * Serves scripted answers with OpenAI's API on loopback.
 * @param port 0 for a free one. Rejects with the system's error when the port cannot be had.
 */
export async function startOfflineModel(port: number): Promise<OfflineModel> {
  const hurry = new AbortController();
  const server = createServer((request, response) => {
    answer(request, response, hurry.signal).catch((error: unknown) => refuse(response, error));
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      hurry.abort();
      await closed;
    },
  };
}

async function answer(incoming: IncomingMessage, response: ServerResponse, hurry: AbortSignal): Promise<void> {
  const path = (incoming.url ?? "/").split("?")[0];
  const route = `${incoming.method} ${path}`;
  if (route === "GET /v1/models") {
    const models = [{ id: "offline", object: "model", created: 0, owned_by: "troupe" }];
    return sendJson(response, 200, { object: "list", data: models });
  }
  if (route !== "POST /v1/chat/completions") throw new RequestError(404, `There is no ${route} here.`);
  const request = readChatRequest(await readBody(incoming));
  const script = chooseScript(request);
  if (script.kind === "failure") throw new RequestError(500, script.message);
  if (request.isStreamed) return streamAnswer(response, { request, script, hurry });
  sendJson(response, 200, wholeCompletion(request, script));
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  // Destroyed with the loop, the request would take the connection and the answer with it.
  for await (const part of incoming.iterator({ destroyOnReturn: false })) {
    size += part.length;
    if (size > maxBodyBytes) throw new RequestError(413, `The body is over ${maxBodyBytes} bytes.`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.destroyed) return;
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const refusal = error instanceof RequestError ? error : new RequestError(500, "The offline model has a defect.");
  // What is left of a body that is too large is not read.
  if (refusal.status === 413) response.setHeader("connection", "close");
  sendJson(response, refusal.status, refusal.envelope);
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
