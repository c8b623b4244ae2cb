// `npm run simulate -w @troupe/kernel -- --seed 123` replays one schedule with its trace; `--count 1000` runs that many from there.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const options = { seed: { type: "string", default: "1" }, count: { type: "string", default: "1" } };
const { values } = parseArgs({ options });
const wrong = Object.entries(values).find(([, value]) => !/^[1-9][0-9]*$/.test(String(value)));
if (wrong) {
  console.error(`--${wrong[0]} takes a whole number from 1, not "${String(wrong[1])}"`);
  process.exit(2);
}
const env = { ...process.env, SIM_SEED: values.seed, SIM_SCHEDULES: values.count };
const root = fileURLToPath(new URL("../../..", import.meta.url));
const args = ["vitest", "run", "libs/kernel/test/simulation.test.ts"];
process.exit(spawnSync("npx", args, { cwd: root, env, stdio: "inherit" }).status ?? 1);
