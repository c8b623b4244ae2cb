import type { Health, Metrics } from "@troupe/platform";
import type { FastifyInstance } from "fastify";
import { addPageRoutes } from "../page-route.js";
import type { TokenGate } from "../token-gate.js";

export interface ServicePages {
  readonly gate: TokenGate;
  readonly health: Health;
  readonly metrics: Metrics;
}

/** The web pages, health and metrics. */
export function addServicePages(app: FastifyInstance, { gate, health, metrics }: ServicePages): void {
  const open = { config: { public: true } };

  addPageRoutes(app, gate);

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
