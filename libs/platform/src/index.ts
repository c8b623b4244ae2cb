export { type Backoff, type BackoffOptions, backoff, delay } from "./backoff.js";
export { Config } from "./config/config.js";
export { ConfigError, type Problem } from "./config/config-error.js";
export { type LoadOptions, loadConfig } from "./config/load-config.js";
export { OfflineModelFile, ProviderSettings } from "./config/model-settings.js";
export { NatsFile, NatsSettings } from "./config/nats-settings.js";
export type { Environment } from "./config/secret.js";
export { TroupeFile } from "./config/troupe-file.js";
export { FullStores } from "./full-stores.js";
export { type ComponentState, Health, type HealthReport } from "./health.js";
export { ensureToken } from "./http-token.js";
export { createLogger, type Logger, type LoggerOptions } from "./logger.js";
export {
  type Counter,
  createMetrics,
  type Gauge,
  type Histogram,
  type Metrics,
} from "./metrics.js";
export {
  type MetricsServer,
  type MetricsServerOptions,
  startMetricsServer,
} from "./metrics-server.js";
export { createPrivateFile, replacePrivateFile } from "./private-file.js";
export { redact } from "./redaction.js";
export { runService, type ServiceContext, type ServiceDefinition } from "./service.js";
export { StartError } from "./start-error.js";
export { childOf, newTrace, parseTrace, type Trace } from "./trace-context.js";
