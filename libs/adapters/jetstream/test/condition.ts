import { setTimeout as delay } from "node:timers/promises";

/** Waits until the condition holds; throws when it does not in time. */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  what = "the condition",
  limitMs = 30_000,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`${what} did not come true within ${limitMs} ms`);
    await delay(10);
  }
}
