import { Host } from "../src/host.js";
import { Random, simulate, type SimulationResult } from "../src/testing/index.js";

const drain = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const KINDS = ["u", "u", "u", "v", "v", "s", "t", "c", "r", "d", "x", "y", "ops:u", "ops:c", "k"];

/** A script drawn from the seed, so that the seed alone replays everything. */
export function scriptOf(seed: number): string[] {
  const random = new Random(seed ^ 0x5eed);
  return Array.from({ length: 1 + random.below(7) }, (_, i) => `${random.pick(KINDS)}${i + 1}`);
}

/** Runs the schedule that belongs to a seed. */
export function runSchedule(seed: number, HostClass: typeof Host = Host): Promise<SimulationResult> {
  const faults = new Random(seed ^ 0xfa17).below(14);
  return simulate({ seed, script: scriptOf(seed), faults, createHost: (base) => new HostClass(base), drain });
}
