import { type Bus, sweepOrphans } from "@troupe/jetstream";
import { delay, type Logger } from "@troupe/platform";

/** The first one after a while, and not in all processes at once: a start has better things to do. */
const FIRST_MS = { least: 300_000, spread: 600_000 };
const PAUSE_MS = 6 * 3_600_000;

/** Removes now and then what no conversation names any more; the result ends that. */
export function sweepNowAndThen(bus: Bus, log: Logger): () => void {
  const abort = new AbortController();
  void sweep(bus, log, abort.signal);
  return () => abort.abort();
}

async function sweep(bus: Bus, log: Logger, signal: AbortSignal): Promise<void> {
  let pauseMs = FIRST_MS.least + Math.random() * FIRST_MS.spread;
  for (;;) {
    await delay(pauseMs, signal).catch(() => undefined);
    if (signal.aborted) return;
    pauseMs = PAUSE_MS;
    try {
      const removed = await sweepOrphans(bus);
      if (removed > 0) log.info({ removed }, "removed what generations that are over had left");
    } catch (err) {
      log.warn({ err }, "could not look for what generations that are over have left");
    }
  }
}
