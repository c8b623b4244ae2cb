import { parseSessionId } from "@troupe/contracts";
import { jobSource, publishPort } from "@troupe/jetstream";
import { JOB_LAWS, type JobWorld } from "@troupe/jobs/testing";
import { afterAll, beforeAll, describe, test, vi } from "vitest";
import { eventually, NatsScene } from "./nats-scene.js";

vi.setConfig({ testTimeout: 120_000 });

describe("the laws of job sources on JetStream", () => {
  let scene: NatsScene;
  let world: JobWorld;

  beforeAll(async () => {
    scene = await NatsScene.open();
    world = {
      publish: publishPort(await scene.connect()),
      source: async () => jobSource(await scene.connect()),
      keyOf: (name) => {
        const parsed = parseSessionId(name);
        if (!parsed.ok) throw new Error(parsed.reason);
        return parsed.key;
      },
      elapsed: () => performance.now(),
      until: (condition) => eventually(condition),
    };
  });
  afterAll(() => scene?.close());

  test.each(JOB_LAWS)("$title", (law) => law.run(world));
});
