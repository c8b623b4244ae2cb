import { PORT_LAWS, type PortWorld } from "@troupe/kernel/testing";
import { afterAll, beforeAll, describe, test } from "vitest";
import { jetStreamWorld } from "./jetstream-world.js";
import { type NatsFixture, provisioned, startFixture } from "./nats-fixture.js";

describe("the port laws on JetStream", () => {
  let fixture: NatsFixture;
  let world: PortWorld & { stop(): Promise<void> };

  beforeAll(async () => {
    fixture = await startFixture();
    world = await jetStreamWorld(await provisioned(fixture));
  });
  afterAll(async () => {
    await world?.stop();
    await fixture?.stop();
  });

  for (const law of PORT_LAWS) test(law.title, () => law.run(world));
});
