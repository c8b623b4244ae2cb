import type { Health } from "./health.js";
import type { Logger } from "./logger.js";
import type { Gauge, Metrics } from "./metrics.js";

/** Who waits for room tries again within seconds: a store that has refused nothing for so long has room again. */
const QUIET_MS = 15_000;

/** Stores that take no more, told once each: whoever is refused is refused again and again. */
export class FullStores {
  readonly #log: Logger;
  readonly #health: Health;
  readonly #gauge: Gauge<"store">;
  readonly #quiet = new Map<string, NodeJS.Timeout>();

  constructor({ log, metrics, health }: { log: Logger; metrics: Metrics; health: Health }) {
    this.#log = log;
    this.#health = health;
    this.#gauge = metrics.gauge({
      name: "troupe_store_full",
      help: "1 while a stream or bucket takes no more, by its name",
      labelNames: ["store"],
    });
  }

  /** A store has refused something. @param what for a person, in one line: what is full and what to do */
  refused(store: string, what: string): void {
    const known = this.#quiet.get(store);
    clearTimeout(known);
    this.#quiet.set(store, setTimeout(() => this.#recovered(store), QUIET_MS).unref());
    if (known !== undefined) return;
    this.#gauge.set({ store }, 1);
    this.#health.set(`store ${store}`, "degraded", "full");
    this.#log.error({ store }, what);
  }

  #recovered(store: string): void {
    this.#quiet.delete(store);
    this.#gauge.set({ store }, 0);
    this.#health.set(`store ${store}`, "ok");
    this.#log.info({ store }, `${store} has room again`);
  }
}
