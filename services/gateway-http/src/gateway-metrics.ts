import type { Counter, Gauge, Histogram, Metrics } from "@troupe/platform";

/** What this service counts, beside what every process does. */
export interface GatewayMetrics {
  readonly requests: Counter<"method" | "route" | "status">;
  readonly openStreams: Gauge;
  readonly waiting: Gauge;
  /** From taking a message in until its final is here; only for requests that wait. */
  readonly turnWait: Histogram;
}

export function gatewayMetrics(metrics: Metrics): GatewayMetrics {
  return {
    requests: metrics.counter({
      name: "troupe_http_requests_total",
      help: "Requests answered, by route and status",
      labelNames: ["method", "route", "status"],
    }),
    openStreams: metrics.gauge({
      name: "troupe_http_open_streams",
      help: "Event streams and streamed completions that are open",
    }),
    waiting: metrics.gauge({
      name: "troupe_http_waiting_requests",
      help: "Requests that wait for the final of their turn",
    }),
    turnWait: metrics.histogram({
      name: "troupe_http_turn_wait_seconds",
      help: "Time that requests waited for the final of their turn",
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    }),
  };
}
