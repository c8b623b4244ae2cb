import type { KernelEvent } from "@troupe/kernel";
import type { Logger, Metrics } from "@troupe/platform";

/** What an operator can watch of an orchestrator. */
export function orchestratorMetrics(metrics: Metrics) {
  return {
    modelSeconds: metrics.histogram({
      name: "troupe_model_call_seconds",
      help: "Duration of model calls with their retries, by outcome",
      labelNames: ["outcome"],
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300],
    }),
    toolCalls: metrics.counter({
      name: "troupe_tool_calls_total",
      help: "Tool calls that ended, by tool and status",
      labelNames: ["tool", "status"],
    }),
    kernelEvents: metrics.counter({
      name: "troupe_kernel_events_total",
      help: "Commits, refusals, takeovers and the like, as the kernel reports them",
      labelNames: ["kind"],
    }),
    active: metrics.gauge({ name: "troupe_active_sessions", help: "Sessions that this process hosts now" }),
  };
}
export type OrchestratorMetrics = ReturnType<typeof orchestratorMetrics>;

/** Turns what the kernel reports into counts, and into log lines where an operator should know. */
export function kernelObserver(metrics: OrchestratorMetrics, log: Logger): (event: KernelEvent) => void {
  return (event) => {
    metrics.kernelEvents.inc({ kind: event.kind === "point" ? event.point : event.kind });
    switch (event.kind) {
      case "point":
        return log.trace({ key: event.key }, event.point);
      case "refused":
        return log.debug({ key: event.key, revision: event.revision }, "a write was refused, reading again");
      case "takeover":
        return log.info({ key: event.key, epoch: event.epoch }, `took over ${event.runs} runs of another owner`);
      case "lost":
        return log.warn({ key: event.key }, "lost the lease, starting over");
      case "poison":
        return log.error({ key: event.key, attempt: event.attempt }, `handling failed: ${event.reason}`);
      case "newer":
        return log.warn(
          { key: event.key },
          `left to a newer service: ${event.what} of a schema this version does not know`,
        );
      case "trouble":
        return log.warn({ key: event.key, err: event.cause }, `${event.what} did not work out, trying again`);
    }
  };
}
