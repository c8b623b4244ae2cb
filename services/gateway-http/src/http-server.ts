import { isUtf8 } from "node:buffer";
import type { Server } from "node:http";
import { StartError, type Logger } from "@troupe/platform";
import fastify, { type FastifyInstance } from "fastify";
import { addAccessControl, type AccessRules } from "./access-control.js";
import type { GatewayMetrics } from "./gateway-metrics.js";
import type { LongRequests } from "./long-requests.js";
import { HttpProblem } from "./problem.js";
import { addProblemAnswers, answerProblem } from "./problem-answers.js";
import { defect, problemOf } from "./problem-mapping.js";
import { answerUnreadable } from "./unreadable-request.js";

const MAX_BODY_BYTES = 1024 * 1024;
/** Time for a client to send its whole request; a wait for an answer is not part of it. */
const REQUEST_LIMIT_MS = 60_000;
/** Time for its headers alone, which fit a few packets: connections held open by a trickle cost us, not the client. */
const HEADERS_LIMIT_MS = 10_000;
/** How often both limits are looked after. */
const LIMIT_CHECK_MS = 2_000;
/** Node takes no longer header block than this (its own default), so no part of a URL is longer. */
const MAX_HEADER_BYTES = 16 * 1024;
/** Time for requests under way to end, when the process drains. */
const CLOSE_LIMIT_MS = 4_000;
const IDLE_CHECK_MS = 50;
/** No registered status, but what web servers count clients under that left before their answer. */
const CLIENT_CLOSED = 499;

export interface HttpServerOptions {
  readonly rules: AccessRules;
  readonly log: Logger;
  readonly metrics: GatewayMetrics;
  readonly long: LongRequests;
  /** Whether NATS can be reached: tells an outage from a defect. */
  readonly connected: () => boolean;
}

/** The HTTP server without routes: bodies, access, problems, counting. */
export function createHttpServer(options: HttpServerOptions): FastifyInstance {
  const { log, metrics, long } = options;
  const app = fastify({
    // Requests are counted, and told at debug: a line per request at info would be most of the log.
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_LIMIT_MS,
    return503OnClosing: false,
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_LIMIT_MS,
      connectionsCheckingInterval: LIMIT_CHECK_MS,
      // Refused by us, with a body that says why.
      requireHostHeader: false,
    },
    clientErrorHandler: answerUnreadable,
    frameworkErrors: (error, request, reply) => {
      void answerProblem(request, reply, problemOf(error) ?? defect(error));
    },
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (_request, body, done) => {
    try {
      done(null, readJson(body));
    } catch (error) {
      done(error instanceof HttpProblem ? error : new HttpProblem(400, "malformed_json", "the body is not JSON"));
    }
  });
  countRequests(app, metrics, log);
  app.addHook("onRequest", async () => {
    if (!long.closing) return;
    throw new HttpProblem(503, "stopping", "this gateway is stopping", { retryAfterMs: 1_000 });
  });
  addProblemAnswers(app, options);
  addAccessControl(app, options.rules);
  return app;
}

/** @throws HttpProblem or SyntaxError */
function readJson(body: Buffer): unknown {
  // Clients name the type even when a request such as cancel has no body.
  if (body.length === 0) return undefined;
  // Read as UTF-8 all the same, a wrong byte would become another text than the one that was sent.
  if (!isUtf8(body)) throw new HttpProblem(400, "malformed_json", "the body is not UTF-8 text");
  return JSON.parse(body.toString("utf8"));
}

/** At the end of each answer, or of the connection: fastify's own hook is not called for clients that leave early. */
function countRequests(app: FastifyInstance, metrics: GatewayMetrics, log: Logger): void {
  app.addHook("onRequest", async (request, reply) => {
    reply.raw.once("close", () => {
      const { method } = request;
      const route = request.routeOptions.url ?? "none";
      const status = reply.raw.headersSent ? reply.raw.statusCode : CLIENT_CLOSED;
      metrics.requests.inc({ method, route, status });
      if (!log.isLevelEnabled("debug")) return;
      log.debug({ method, route, status, ms: Math.round(reply.elapsedTime) }, "answered");
    });
  });
}

/** @throws StartError in one line when the address cannot be had */
export async function listen(app: FastifyInstance, host: string, port: number): Promise<number> {
  try {
    await app.listen({ host, port });
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
    throw new StartError(
      code === "EADDRINUSE"
        ? `port ${port} on ${host} is taken: set TROUPE_HTTP_PORT to a free one`
        : `cannot listen on ${host}:${port} (${code}): change TROUPE_HTTP_HOST or TROUPE_HTTP_PORT`,
      { cause },
    );
  }
  const address = app.server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}

/** Takes no new requests, ends the waiting ones, and gives the others a moment. */
export async function closeServer(app: FastifyInstance, long: LongRequests): Promise<void> {
  long.close();
  const server: Server = app.server;
  // A connection whose last answer was under way when closing began is idle later than that.
  const reap = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  const cut = setTimeout(() => server.closeAllConnections(), CLOSE_LIMIT_MS);
  try {
    await app.close();
  } finally {
    clearInterval(reap);
    clearTimeout(cut);
  }
}
