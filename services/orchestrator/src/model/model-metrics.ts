import type { ProviderPause } from "@troupe/jetstream";
import type { Counter, Metrics } from "@troupe/platform";
import type { BreakerState } from "./circuit-breaker.js";

const STATE_VALUE: Readonly<Record<BreakerState, number>> = { closed: 0, "half-open": 1, open: 2 };

/** What an operator can watch of the model calls of a process. */
export interface ModelMetrics {
  readonly calls: Counter<"provider" | "model" | "outcome">;
  readonly pauses: Counter<"provider" | "code">;
  breaker(target: { readonly provider: string; readonly model: string }, state: BreakerState): void;
}

/** @param pauseOf what is left of a provider's pause when the metrics are read, by the provider's name. */
export function modelMetrics(
  metrics: Metrics,
  providers: readonly string[],
  pauseOf: (provider: string) => ProviderPause | undefined,
): ModelMetrics {
  const breakers = metrics.gauge({
    name: "troupe_model_breaker_state",
    help: "Whether this process calls a model: 0 closed (it does), 1 half-open (one call tries), 2 open (it does not)",
    labelNames: ["provider", "model"],
  });
  metrics.gauge({
    name: "troupe_model_pause_seconds",
    help: "What is left of a provider's pause, in seconds",
    labelNames: ["provider"],
    collect() {
      for (const provider of providers) this.set({ provider }, (pauseOf(provider)?.leftMs ?? 0) / 1_000);
    },
  });
  return {
    calls: metrics.counter({
      name: "troupe_model_calls_total",
      help: "Single model calls, each try by itself, by how they ended: answer, aborted, or the failure's code",
      labelNames: ["provider", "model", "outcome"],
    }),
    pauses: metrics.counter({
      name: "troupe_model_pauses_total",
      help: "Pauses of providers that began or became longer, whichever process was told, by the reason",
      labelNames: ["provider", "code"],
    }),
    breaker: ({ provider, model }, state) => breakers.set({ provider, model }, STATE_VALUE[state]),
  };
}
