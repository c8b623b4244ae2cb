import { type Bus, BusError, connectBus } from "@troupe/jetstream";
import { type ServiceContext, StartError } from "@troupe/platform";
import type { OrchestratorConfig } from "./config.js";

/** Connects, and keeps the health report and the log informed. */
export async function connect({ config, log, health }: ServiceContext<OrchestratorConfig>): Promise<Bus> {
  const { creds, ...target } = config.nats;
  const credsFile = creds === undefined ? {} : { credsFile: creds };
  const bus = await asStartError(() => connectBus({ target: { ...target, ...credsFile }, name: "orchestrator" }));
  health.set("nats", "ok");
  bus.onStatus((status, detail) => {
    health.set("nats", status === "connected" ? "ok" : "down");
    log.warn({ detail }, `NATS ${status}`);
  });
  return bus;
}

/** What the bus cannot do is a sentence for a person already. */
export async function asStartError<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof BusError) throw new StartError(error.message, { cause: error });
    throw error;
  }
}
