import { readFileSync } from "node:fs";

/**
 * Milliseconds for which this thread has had a processor: what others do on the machine does not count. Where the
 * system does not tell, milliseconds on the wall.
 */
export function cpuMs(): number {
  try {
    return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[0]) / 1e6;
  } catch {
    return performance.now();
  }
}
