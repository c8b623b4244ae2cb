import { vi } from "vitest";

/** Waits for a condition, long enough for a machine that is busy with other things. */
export async function eventually<T>(condition: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(condition, { interval: 10 });
}
