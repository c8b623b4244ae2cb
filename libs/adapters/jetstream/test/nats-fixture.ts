import { Retention, type SessionKey, topology } from "@troupe/contracts";
import { type NatsOptions, type NatsServer, startNats } from "@troupe/testkit";
import { type Bus, connectBus, provision } from "../src/index.js";

/** A real server and the connections that a test makes to it; all end with `stop`. */
export interface NatsFixture {
  readonly server: NatsServer;
  /** A further connection, as another process would have it. */
  connect(name?: string): Promise<Bus>;
  stop(): Promise<void>;
}

export async function startFixture(options: NatsOptions = {}): Promise<NatsFixture> {
  const server = await startNats(options);
  const buses: Bus[] = [];
  return {
    server,
    connect: async (name = "test") => {
      const bus = await connectBus({ target: server, name });
      buses.push(bus);
      return bus;
    },
    stop: async () => {
      await Promise.all(buses.map((bus) => bus.close()));
      await server.stop();
    },
  };
}

/** Small limits, so that a test server needs little room. */
export const SMALL = Retention.parse({
  mail: { maxBytes: 8 * 1024 * 1024 },
  outbox: { maxBytes: 8 * 1024 * 1024 },
});

export async function provisioned(fixture: NatsFixture): Promise<Bus> {
  const bus = await fixture.connect();
  await provision(bus, topology(SMALL));
  return bus;
}

export const keyOf = (text: string): SessionKey => `http.${text}` as SessionKey;
