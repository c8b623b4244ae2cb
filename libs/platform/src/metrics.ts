import {
  Counter,
  type CounterConfiguration,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
  Registry,
} from "prom-client";

export type { Counter, Gauge, Histogram };

type Without<C> = Omit<C, "registers">;

/** A process's metrics, in Prometheus's text format. */
export interface Metrics {
  counter<L extends string = never>(options: Without<CounterConfiguration<L>>): Counter<L>;
  gauge<L extends string = never>(options: Without<GaugeConfiguration<L>>): Gauge<L>;
  /** Times are in seconds, as Prometheus has it, and their names end in `_seconds`. */
  histogram<L extends string = never>(options: Without<HistogramConfiguration<L>>): Histogram<L>;
  /** For an HTTP answer, with `contentType`. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** Every series carries the label `service`. */
export function createMetrics(service: string): Metrics {
  const registry = new Registry();
  const registers = [registry];
  registry.setDefaultLabels({ service });
  addProcessMetrics(registry);
  return {
    counter: (options) => new Counter({ ...options, registers }),
    gauge: (options) => new Gauge({ ...options, registers }),
    histogram: (options) => new Histogram({ ...options, registers }),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

/**
 * The usual names, read when scraped and free in between. prom-client's own set cannot be taken in part, and its
 * collector for garbage collection and its event-loop histogram (a timer every 10 ms) cost every process at rest.
 */
function addProcessMetrics(registry: Registry): void {
  let scraped = performance.eventLoopUtilization();
  const busy = (): number => {
    const before = scraped;
    scraped = performance.eventLoopUtilization();
    return performance.eventLoopUtilization(scraped, before).utilization;
  };
  const read: readonly (readonly [name: string, help: string, value: () => number])[] = [
    ["process_start_time_seconds", "Unix time at which the process began", () => performance.timeOrigin / 1000],
    ["process_resident_memory_bytes", "Resident memory", () => process.memoryUsage.rss()],
    ["nodejs_heap_size_used_bytes", "Heap in use", () => process.memoryUsage().heapUsed],
    [
      "nodejs_active_resources",
      "Timers, sockets and requests that are open",
      () => process.getActiveResourcesInfo().length,
    ],
    [
      "nodejs_eventloop_utilization_ratio",
      "Share of the time since the last scrape that the event loop was busy",
      busy,
    ],
  ];
  for (const [name, help, value] of read) {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(value());
      },
    });
  }
  let counted = 0;
  new Counter({
    name: "process_cpu_seconds_total",
    help: "CPU time of user and system",
    registers: [registry],
    collect() {
      const { user, system } = process.cpuUsage();
      const seconds = (user + system) / 1e6;
      this.inc(seconds - counted);
      counted = seconds;
    },
  });
}
