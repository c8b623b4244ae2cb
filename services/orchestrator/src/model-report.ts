import { probeModel } from "@troupe/model-openai";
import type { ServiceContext } from "@troupe/platform";
import type { OrchestratorConfig } from "./config.js";

/** Says at the start what would otherwise be found out by the first person who asks something. */
export async function reportModel({ config, log }: ServiceContext<OrchestratorConfig>): Promise<void> {
  const { baseUrl, apiKey } = config.provider;
  const probe = await probeModel({ apiKey, ...(baseUrl === undefined ? {} : { baseUrl }) });
  const model = config.models.default;
  if (probe.kind === "unauthorized")
    log.error(`the model service refuses the key: check OPENAI_API_KEY (${probe.detail})`);
  else if (probe.kind === "unreachable")
    log.error(`the model service cannot be reached: check OPENAI_BASE_URL (${probe.detail})`);
  else if (probe.kind === "ok" && probe.models.length > 0 && !probe.models.includes(model)) {
    log.warn(
      `the model service does not list "${model}": set TROUPE_MODEL to one of ${probe.models.slice(0, 5).join(", ")}`,
    );
  }
}
