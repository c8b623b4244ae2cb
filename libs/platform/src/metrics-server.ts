import { createServer, type ServerResponse } from "node:http";
import type { Health } from "./health.js";
import type { Metrics } from "./metrics.js";
import { StartError } from "./start-error.js";

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

export interface MetricsServerOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly metrics: Metrics;
  readonly health: Health;
}

/**
 * `/metrics`, `/healthz` (the process answers) and `/readyz` (it may be sent work; 503 if not), without a token.
 *
 * @throws StartError when the port cannot be had
 */
export async function startMetricsServer(options: MetricsServerOptions): Promise<MetricsServer> {
  const { host, port } = options;
  const server = createServer((request, response) => {
    if (request.method !== "GET" && request.method !== "HEAD") {
      send(response, 405, "text/plain", "only GET\n");
      return;
    }
    answer(request.url ?? "/", response, options).catch(() => send(response, 500, "text/plain", "failed\n"));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => {
      const code = "code" in cause ? String(cause.code) : "unknown error";
      reject(
        new StartError(`cannot serve metrics on ${host}:${port} (${code}): change TROUPE_METRICS_PORT`, { cause }),
      );
    });
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // A scraper keeps its connection open between scrapes.
        server.closeAllConnections();
      }),
  };
}

async function answer(url: string, response: ServerResponse, { metrics, health }: MetricsServerOptions): Promise<void> {
  switch (url.split("?", 1)[0]) {
    case "/metrics":
      return send(response, 200, metrics.contentType, await metrics.text());
    case "/healthz":
      return send(response, 200, "application/json", JSON.stringify({ status: "ok" }));
    case "/readyz": {
      const report = health.report();
      return send(response, report.ready ? 200 : 503, "application/json", JSON.stringify(report));
    }
    default:
      return send(response, 404, "text/plain", "not found\n");
  }
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { "content-type": type, "cache-control": "no-store" }).end(body);
}
