import { type Retention, topology } from "@troupe/contracts";
import { type Bus, BusError, changeText, connectBus, provision } from "@troupe/jetstream";
import { type Config, type ServiceContext, StartError } from "@troupe/platform";

/** What a service's configuration holds at least: `Config.pick({ nats: true, retention: true })`. */
export type BusConfig = Pick<Config, "nats"> & { readonly retention: Retention };

/**
 * Connects a service and makes sure of streams and buckets; the health report and the log hear of the connection, the log
 * also of each limit that was another one before.
 *
 * @param name what the server's list of connections shows
 * @throws StartError with a line for people when the server cannot be reached, refuses the login, is too old, or will
 *   not have the streams
 */
export async function openBus(context: ServiceContext<BusConfig>, name: string): Promise<Bus> {
  const { config, open, log } = context;
  const bus = await open(
    "connection to NATS",
    () => connect(context, name),
    (opened) => opened.close(),
  );
  const changes = await open("streams and buckets", () =>
    asStartError(() => provision(bus, topology(config.retention))),
  );
  for (const change of changes) {
    log.warn(change, `${changeText(change)}, for all services: each needs the same TROUPE_CONFIG`);
  }
  return bus;
}

async function connect({ config, log, health }: ServiceContext<BusConfig>, name: string): Promise<Bus> {
  const { creds, ...target } = config.nats;
  const credsFile = creds === undefined ? {} : { credsFile: creds };
  const bus = await asStartError(() => connectBus({ target: { ...target, ...credsFile }, name }));
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
