import { Host } from "../src/host.js";
import { Random, simulate, type SimulationResult } from "../src/testing/index.js";

const drain = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const KINDS = ["u", "u", "u", "v", "v", "s", "t", "w", "c", "r", "d", "x", "y", "z", "h", "ops:u", "ops:c", "k", "j/u"];

/** Every so many seeds: a mailbox longer than one read of it, with a cancel at its end; a cancel that one fault may hide. */
export const LONG_EVERY = 100;
const LONG = 75;
export const HIDDEN_EVERY = 20;

/** A script drawn from the seed, so that the seed alone replays everything. */
export function scriptOf(seed: number): string[] {
  if (seed % LONG_EVERY === 0) return ["h1", ...Array.from({ length: LONG }, (_, i) => `u${i + 2}`), `c${LONG + 2}`];
  if (seed % HIDDEN_EVERY === 0) return ["h1", "c2"];
  const random = new Random(seed ^ 0x5eed);
  const script = Array.from({ length: 1 + random.below(7) }, (_, i) => `${random.pick(KINDS)}${i + 1}`);
  // What never ends by itself needs somebody who ends it.
  return script.some((line) => line.startsWith("h")) ? [...script, `c${script.length + 1}`] : script;
}

/** Runs the schedule that belongs to a seed. */
export function runSchedule(seed: number, HostClass: typeof Host = Host): Promise<SimulationResult> {
  const faults = seed % HIDDEN_EVERY === 0 ? 1 : new Random(seed ^ 0xfa17).below(14);
  return simulate({ seed, script: scriptOf(seed), faults, createHost: (base) => new HostClass(base), drain });
}
