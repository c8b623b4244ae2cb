/**
 * A language model played at the wire: a real HTTP server in which the test decides every reply.
 * It is not a simulation of a model. What it sends is what the test says, byte for byte if need be.
 *
 * A request is answered by the first of: the routes (`when`, newest first), the queue (`enqueue`,
 * each used once), the default (`reply`; at first an echo of the last user message).
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createArrivals } from "./scripted-model-arrivals.js";
import { captureRequest, type RequestMatch, type ScriptedRequest } from "./scripted-model-request.js";
import { createResponder } from "./scripted-model-responder.js";
import { createScriptedRoutes, type ScriptedGate, type ScriptedReply } from "./scripted-model-routes.js";

export interface ScriptedModel {
  /** Base URL for a client, ending in `/v1`. */
  readonly url: string;
  /** Chat requests in the order of their arrival. */
  readonly requests: readonly ScriptedRequest[];
  /** What a reply function threw; a test may assert that there is nothing. */
  readonly failures: readonly unknown[];
  /** Sets the default reply. */
  reply(reply: ScriptedReply): void;
  /** Sets what `GET /v1/models` answers (at first one model, `scripted`). */
  models(reply: ScriptedReply): void;
  /** Answers the next request that no route takes; each is used once, first in, first out. */
  enqueue(...replies: readonly ScriptedReply[]): void;
  /** Answers every request that matches; a later route wins over an earlier one. Call the result to take it off. */
  when(match: RequestMatch, reply: ScriptedReply): () => void;
  /**
   * Keeps the next request (that matches) waiting until `release`. Without `reply` it is then
   * answered as if there had been no gate.
   */
  hold(match?: RequestMatch, reply?: ScriptedReply): ScriptedGate;
  /** The request number `n` (from 1), or the first, already here or to come, that matches. */
  waitForRequest(which: number | RequestMatch): Promise<ScriptedRequest>;
  /** Ends every connection at once. */
  close(): Promise<void>;
}

export async function startScriptedModel(): Promise<ScriptedModel> {
  const failures: unknown[] = [];
  const arrivals = createArrivals();
  const routes = createScriptedRoutes();
  let seen = 0;
  let modelList: ScriptedReply = listModels;

  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch((error: unknown) => {
      failures.push(error);
      if (outgoing.headersSent) outgoing.destroy();
      else createFallback(outgoing, error);
    });
  });
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const isChat = incoming.method === "POST";
    const request = await captureRequest(isChat ? ++seen : 0, incoming, outgoing);
    const respond = createResponder(request, outgoing);
    if (!isChat) return modelList(request, respond);
    const reply = routes.next(request);
    arrivals.add(request);
    await reply(request, respond);
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the scripted model has no port");

  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    requests: arrivals.requests,
    failures,
    reply: routes.setDefault,
    models: (reply) => {
      modelList = reply;
    },
    enqueue: routes.enqueue,
    when: routes.when,
    hold: routes.hold,
    waitForRequest: arrivals.waitFor,
    close: async () => {
      routes.releaseAll();
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const listModels: ScriptedReply = (_request, respond) =>
  respond.status(200, { object: "list", data: [{ id: "scripted", object: "model" }] });

function createFallback(outgoing: ServerResponse, error: unknown): void {
  outgoing.writeHead(500, { "content-type": "application/json" });
  outgoing.end(JSON.stringify({ error: { message: `the scripted reply threw: ${String(error)}` } }));
}
