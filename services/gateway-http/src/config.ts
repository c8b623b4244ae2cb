import { Config } from "@troupe/platform";
import type { z } from "zod";

/** What this service takes from the configuration. */
export const GatewayConfig = Config.pick({
  nats: true,
  http: true,
  token: true,
  dataDir: true,
  models: true,
  retention: true,
});
export type GatewayConfig = z.infer<typeof GatewayConfig>;
