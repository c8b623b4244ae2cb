import { Config } from "@troupe/platform";
import type { z } from "zod";

/** What this service takes from the configuration. */
export const OrchestratorConfig = Config.pick({
  agent: true,
  channels: true,
  introduction: true,
  models: true,
  nats: true,
  provider: true,
  providers: true,
  retention: true,
  turn: true,
});
export type OrchestratorConfig = z.infer<typeof OrchestratorConfig>;
