import { expect, test } from "vitest";
import { runSchedule, scriptOf } from "./schedule.js";

/** `SIM_SEED=<n> SIM_SCHEDULES=1` replays one schedule with its trace. */
const SCHEDULES = Number(process.env["SIM_SCHEDULES"] ?? 10_000);
const FIRST_SEED = Number(process.env["SIM_SEED"] ?? 1);

test(`K1–K11: ${SCHEDULES} schedules from seed ${FIRST_SEED} hold every law`, { timeout: 600_000 }, async () => {
  let steps = 0;
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SCHEDULES; seed++) {
    const result = await runSchedule(seed);
    steps += result.steps;
    if (result.breach !== undefined) {
      expect.fail(`seed ${seed}, script ${scriptOf(seed).join(" ")}: ${result.breach}\n${result.trace.join("\n")}`);
    }
    if (SCHEDULES === 1) console.log(result.trace.join("\n"));
  }
  console.log(`simulation: seeds ${FIRST_SEED} to ${FIRST_SEED + SCHEDULES - 1}, ${steps} steps`);
});

test("a seed replays its schedule step by step", async () => {
  const [once, again] = [await runSchedule(7), await runSchedule(7)];
  expect(again.trace).toEqual(once.trace);
});
