import { writeSync } from "node:fs";
import { stringify } from "yaml";
import type { z } from "zod";
import type { Config } from "./config/config.js";
import { ConfigError } from "./config/config-error.js";
import { loadTree, pickConfig } from "./config/load-config.js";
import { Health } from "./health.js";
import { createLogger, type Logger } from "./logger.js";
import { createMetrics, type Metrics } from "./metrics.js";
import { startMetricsServer } from "./metrics-server.js";
import { redact, redactText } from "./redaction.js";
import { ServiceLifecycle } from "./service-lifecycle.js";

/** What a service is given to build itself from. */
export interface ServiceContext<C> {
  readonly config: C;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly health: Health;
  /** Aborts when draining begins, so that a start that waits can give up. */
  readonly stopping: AbortSignal;
  /** Opens a part and remembers how to close it: the last opened is closed first. */
  readonly open: <T>(name: string, open: () => T | Promise<T>, close?: (part: T) => unknown) => Promise<T>;
  /** Ends the process with 1 after draining, when a part is broken for good. */
  readonly fail: (error: unknown) => void;
}

export interface ServiceDefinition<S extends z.ZodType> {
  readonly service: string;
  /** What the service picks from the configuration. */
  readonly config: S;
  /** Opens the parts in order; the service is ready when it resolves. */
  readonly wire: (context: ServiceContext<z.output<S>>) => Promise<void>;
  /** How long draining may take, all parts together, before the process ends with 1. Default 9,000: it is gone within 10 s. */
  readonly drainLimitMs?: number;
}

/**
 * A service process from its first line to its exit code: configuration, log, metrics, health, the parts in order,
 * and the way back on a signal, on a defect or when the supervisor is gone.
 */
export async function runService<S extends z.ZodType>(definition: ServiceDefinition<S>): Promise<void> {
  const { service, wire, drainLimitMs = 9_000 } = definition;
  const { config, base } = loadOrExit(definition);
  const log = createLogger({ service, ...base.log });
  const health = new Health();
  const metrics = createMetrics(service);
  const lifecycle = new ServiceLifecycle({
    service,
    log,
    health,
    drainLimitMs,
    supervised: base.parentWatch,
  });
  await lifecycle.run(async () => {
    const { host, port } = base.metrics;
    if (port !== undefined) {
      const server = await lifecycle.open(
        "metrics endpoint",
        () => startMetricsServer({ host, port, metrics, health }),
        (opened) => opened.close(),
      );
      log.info({ host, port: server.port }, "metrics endpoint open");
    }
    await wire({
      config,
      log,
      metrics,
      health,
      stopping: lifecycle.stopping,
      open: (name, open, close) => lifecycle.open(name, open, close),
      fail: (error) => lifecycle.fail(error),
    });
  });
}

function loadOrExit<S extends z.ZodType>(
  definition: ServiceDefinition<S>,
): {
  config: z.output<S>;
  base: Pick<Config, "log" | "metrics" | "parentWatch">;
} {
  try {
    const loaded = loadTree({});
    const config = pickConfig(definition.config, loaded);
    if (process.argv.includes("--print-config")) {
      writeSync(1, stringify(redact(config)));
      process.exit(0);
    }
    return { config, base: loaded.tree };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    writeSync(2, redactText(`${definition.service}: ${error.message}\n`));
    process.exit(1);
  }
}
