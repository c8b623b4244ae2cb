import type { Health, Metrics } from "@troupe/platform";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { cookieName, unauthorized } from "../access-control.js";
import { homePage } from "../home-page.js";
import { readFields } from "../problem.js";
import type { TokenGate } from "../token-gate.js";

export interface ServicePages {
  readonly gate: TokenGate;
  readonly health: Health;
  readonly metrics: Metrics;
}

const HomeQuery = z.object({ token: z.string("expected one token").optional() });

const PAGE_HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;

/** The front page with the token's exchange, health and metrics. */
export function addServicePages(app: FastifyInstance, { gate, health, metrics }: ServicePages): void {
  const open = { config: { public: true } };

  // Public because it says nothing of anybody: a browser that followed a link from another site sends no cookie yet.
  app.get("/", open, async (request, reply) => {
    const { token } = readFields(HomeQuery, request.query);
    void reply.headers(PAGE_HEADERS);
    if (token === undefined) return reply.type("text/html; charset=utf-8").send(homePage(request.host));
    if (!gate.isToken(token)) throw unauthorized();
    const name = cookieName(request.socket.localPort);
    const cookie = `${name}=${gate.cookieValue}; Path=/; HttpOnly; SameSite=Strict`;
    return reply.header("set-cookie", cookie).redirect("/", 303);
  });

  app.get("/healthz", open, async () => ({ status: "ok" }));

  app.get("/readyz", open, async (_request, reply) => {
    const report = health.report();
    return reply.code(report.ready ? 200 : 503).send(report);
  });

  app.get("/metrics", async (_request, reply) => {
    const text = await metrics.text();
    return reply.type(metrics.contentType).send(text);
  });
}
