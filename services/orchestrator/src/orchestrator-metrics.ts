import { OutboxMessage } from "@troupe/contracts";
import { StreamFull } from "@troupe/jetstream";
import type { KernelEvent, ListedPublish } from "@troupe/kernel";
import type { FullStores, Logger, Metrics } from "@troupe/platform";
import { processResult } from "@troupe/response";
import { reportDeadLetter } from "./dead-letter-report.js";

/** What an operator can watch of an orchestrator. */
export function orchestratorMetrics(metrics: Metrics) {
  return {
    modelSeconds: metrics.histogram({
      name: "troupe_model_call_seconds",
      help: "Duration of model calls with their retries, by outcome",
      labelNames: ["outcome"],
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300],
    }),
    turns: metrics.counter({
      name: "troupe_turns_total",
      help: "Finals that OUTBOX has acknowledged, by kind and error code",
      labelNames: ["kind", "code"],
    }),
    deadLetters: metrics.counter({
      name: "troupe_dead_letters_total",
      help: "Mail, tasks and jobs given up on, that DEAD has acknowledged, by kind",
      labelNames: ["kind"],
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
  };
}
export type OrchestratorMetrics = ReturnType<typeof orchestratorMetrics>;

/** A final that OUTBOX has acknowledged: the turn has reached the person's side of the system. */
function reportTurn({ body }: ListedPublish, metrics: OrchestratorMetrics, log: Logger): void {
  const read = OutboxMessage.safeParse(body);
  if (!read.success || read.data.kind !== "final") return;
  const { turn, kind, error, outboundSent } = processResult(read.data.final, true);
  metrics.turns.inc({ kind, code: error?.code ?? "none" });
  log.debug({ session: read.data.session, turn, kind, code: error?.code, outboundSent }, "turn ended");
}

/** How many are remembered before all is news again. */
const MOST_TOLD = 10_000;

/** What is left to a newer service, or to be repaired, rings again every few seconds, and is to be told once. */
function firstTime(): (what: string) => boolean {
  const told = new Set<string>();
  return (what) => {
    if (told.has(what)) return false;
    if (told.size >= MOST_TOLD) told.clear();
    told.add(what);
    return true;
  };
}

/** Turns what the kernel reports into counts, and into log lines where an operator should know. */
export function kernelObserver(
  metrics: OrchestratorMetrics,
  log: Logger,
  stores: Pick<FullStores, "refused">,
): (event: KernelEvent) => void {
  const isNews = firstTime();
  return (event) => {
    metrics.kernelEvents.inc({ kind: event.kind === "point" ? event.point : event.kind });
    switch (event.kind) {
      case "point":
        if (event.point === "published") {
          reportTurn(event.effect, metrics, log);
          reportDeadLetter(event.effect, metrics.deadLetters, log);
        }
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
        if (!isNews(`${event.key} ${event.what} ${event.version}`)) return;
        return log.warn(
          { key: event.key, version: event.version },
          `left to a newer service: ${event.what} of a schema this version does not know`,
        );
      case "unreadable":
        if (!isNews(`${event.key} unreadable`)) return;
        return log.error(
          { key: event.key, err: event.cause },
          "the state of this session cannot be read: what is said to it waits until its entry in the bucket sessions is repaired",
        );
      case "trouble":
        if (event.cause instanceof StreamFull) {
          const { store, message } = event.cause;
          return stores.refused(store, `${message}; what needs it waits, and nothing is lost`);
        }
        return log.warn({ key: event.key, err: event.cause }, `${event.what} did not work out, trying again`);
    }
  };
}
