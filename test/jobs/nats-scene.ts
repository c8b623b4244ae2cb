import { setTimeout as delay } from "node:timers/promises";
import { Retention, topology } from "@troupe/contracts";
import { type Bus, connectBus, provision } from "@troupe/jetstream";
import { type NatsServer, startNats } from "@troupe/testkit";

/** A real server with everything provisioned, and the connections that a test makes to it, as processes would. */
export class NatsScene {
  readonly server: NatsServer;
  readonly #buses: Bus[] = [];

  private constructor(server: NatsServer) {
    this.server = server;
  }

  static async open(): Promise<NatsScene> {
    const scene = new NatsScene(await startNats());
    await provision(await scene.connect(), topology(Retention.parse({})));
    return scene;
  }

  async connect(): Promise<Bus> {
    const bus = await connectBus({ target: this.server, name: "test", waitMs: 60_000 });
    this.#buses.push(bus);
    return bus;
  }

  async close(): Promise<void> {
    await Promise.all(this.#buses.map((bus) => bus.close()));
    await this.server.stop();
  }
}

/** Waits until the condition holds; throws when it does not in time. */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  what = "the condition",
  limitMs = 60_000,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`${what} did not come true within ${limitMs} ms`);
    await delay(10);
  }
}
