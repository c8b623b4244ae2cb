import { z } from "zod";
import { LOG_LEVELS } from "./environment-variables.js";
import { GatewaySettings } from "./gateway-settings.js";
import { ModelChoice, ProviderSettings } from "./model-settings.js";
import { NatsSettings } from "./nats-settings.js";
import { TroupeFile } from "./troupe-file.js";

const file = TroupeFile.shape;

/**
 * The whole configuration, file and environment together. A service's own schema picks from it, for example
 * `Config.pick({ nats: true, turn: true })`; what it does not pick need not be there.
 */
export const Config = z.object({
  agent: file.agent,
  models: ModelChoice,
  /** The server of `models.default`. */
  provider: ProviderSettings,
  /** The servers of all models; their names differ. */
  providers: z.array(ProviderSettings),
  turn: file.turn,
  introduction: file.introduction,
  channels: file.channels,
  /** Where a gateway listens. */
  http: file.http,
  /** Where its clients on this machine find it. */
  gateway: GatewaySettings,
  retention: file.retention,
  nats: NatsSettings,
  /** The bearer token, when one is configured; see `ensureToken`. */
  token: z.string().optional(),
  /** Absolute path of the folder in which this installation keeps its state. */
  dataDir: z.string(),
  /** Path of a nats-server binary for whoever runs a local one. */
  natsServerBin: z.string().optional(),
  log: z.object({ level: z.enum(LOG_LEVELS), pretty: z.boolean() }),
  /** Without a port there is no metrics endpoint; port 0 is any free one. */
  metrics: z.object({ host: z.string(), port: z.number().optional() }),
  /** Whether a supervisor holds this process's stdin, and wants it to end with the supervisor. */
  parentWatch: z.boolean(),
});
export type Config = z.infer<typeof Config>;
