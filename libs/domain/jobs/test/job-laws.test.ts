import type { SessionKey } from "@troupe/contracts";
import { test } from "vitest";
import { JOB_LAWS, type JobWorld, MemoryJobs, VirtualClock } from "../src/testing/index.js";

const TICK_MS = 100;
const LONGEST_MS = 30_000;

const clock = new VirtualClock();
const jobs = new MemoryJobs(clock);
/** One world for all of them, as on a real server. */
const world: JobWorld = {
  publish: jobs,
  source: async () => jobs.source(),
  keyOf: (name) => `http.${name.replaceAll(/\W/g, "_")}` as SessionKey,
  elapsed: () => clock.monotonic(),
  until: async (condition) => {
    for (const end = clock.now() + LONGEST_MS; !condition(); clock.moveTo(clock.now() + TICK_MS)) {
      if (clock.now() > end) throw new Error("the condition does not hold in time");
      await Promise.resolve();
    }
  },
};

test.each(JOB_LAWS)("in memory: $title", (law) => law.run(world));
