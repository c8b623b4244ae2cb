import { type Bus, providerPauses } from "@troupe/jetstream";
import { createOpenAiModel } from "@troupe/model-openai";
import { delay, type ServiceContext } from "@troupe/platform";
import type { OrchestratorConfig } from "../config.js";
import { type ModelMetrics, modelMetrics } from "./model-metrics.js";
import { type ModelProvider, ModelRouter, type ModelTarget, type RouterClock } from "./model-router.js";
import { ROUTER_RULES, type RouterRules } from "./router-rules.js";

const systemClock: RouterClock = {
  now: () => performance.now(),
  sleep: (ms, signal) => delay(ms, signal).catch(() => undefined),
  random: Math.random,
};

type Context = Pick<
  ServiceContext<Pick<OrchestratorConfig, "models" | "provider" | "providers">>,
  "config" | "log" | "metrics" | "open"
>;

/** The router of a process: its providers' clients, and the pauses that it shares with all other processes. */
export async function openModelRouter(
  { config, log, metrics, open }: Context,
  bus: Bus,
  rules: RouterRules = ROUTER_RULES,
): Promise<ModelRouter> {
  const providers = new Map(config.providers.map((settings) => [settings.name, providerOf(settings)]));
  const names = new Map([...providers].map(([name, { identity }]) => [identity, name]));
  const measured: ModelMetrics = modelMetrics(metrics, [...providers.keys()], (name) =>
    pauses.of(providers.get(name)?.identity ?? name),
  );
  const pauses = providerPauses(bus, {
    onPause: (identity, { leftMs, code }) => {
      const provider = names.get(identity);
      // Of a provider that only other processes use.
      if (provider === undefined) return;
      measured.pauses.inc({ provider, code });
      log.warn({ provider, code, pauseMs: Math.round(leftMs) }, "the provider is left alone for as long as it asked");
    },
    onTrouble: (line) => log.warn(line),
  });
  await open(
    "pauses of model providers",
    () => pauses.start([...names.keys()]),
    (running) => running.stop(),
  );
  return new ModelRouter({
    providers,
    chains: chainsOf(config),
    pauses,
    rules,
    clock: systemClock,
    log,
    metrics: measured,
  });
}

/** The server's address belongs to it: another process may use the same name for another server. */
function providerOf({ name, apiKey, baseUrl }: OrchestratorConfig["provider"]): ModelProvider {
  return {
    client: createOpenAiModel({ apiKey, ...(baseUrl === undefined ? {} : { baseUrl }) }),
    identity: baseUrl === undefined ? name : `${name} ${baseUrl}`,
  };
}

/** Derived work does not use up what is kept for answers: it has its own model and the default. */
function chainsOf({ models, provider }: Context["config"]): { answer: ModelTarget[]; consolidation: ModelTarget[] } {
  const first = { provider: provider.name, model: models.default };
  const consolidation = models.consolidation === undefined ? [first] : [models.consolidation, first];
  return { answer: [first, ...models.fallback], consolidation };
}
