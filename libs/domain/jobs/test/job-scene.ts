import { type JobDelivery, type JobSource, jobSubject, type SessionKey } from "@troupe/contracts";
import {
  JOB_DEFAULTS,
  JobConsumer,
  type JobEvent,
  type JobHandler,
  type JobOutcome,
  type JobPorts,
  type JobRules,
  type JobTask,
} from "../src/index.js";
import { listedJob, MemoryEntries, MemoryJobs, VirtualClock } from "../src/testing/index.js";

export const KEY = "http.a" as SessionKey;
export const SUBJECT = jobSubject("review", KEY);
const LONGEST_MS = 3_600_000;

export interface SceneOptions {
  readonly rules?: Partial<JobRules>;
  /** Answers of `due`, in turn; the last one stays. By default one piece, due until a work ends as done. */
  readonly due?: JobHandler["due"];
  readonly work?: (task: JobTask, signal: AbortSignal, attempt: number) => Promise<JobOutcome>;
  readonly standBackMs?: () => number;
  readonly ports?: (ports: JobPorts) => Partial<JobPorts>;
}

/** JOBS, DEAD and the attempts in memory, processes that do reviews, and time that passes when a test waits. */
export class JobScene {
  readonly clock = new VirtualClock();
  readonly jobs = new MemoryJobs(this.clock);
  readonly attempts = new MemoryEntries();
  readonly events: JobEvent[] = [];
  /** When each work began, milliseconds since the scene's. */
  readonly workedAt: number[] = [];
  isDone = false;
  readonly #beganAt = this.clock.now();
  #emitted = 0;

  async put(key: SessionKey = KEY, generation = 0, trace?: string): Promise<string> {
    const job = { kind: "review", key, generation, ...(trace === undefined ? {} : { trace }) } as const;
    return this.jobs.publish(listedJob(`e-${++this.#emitted}`, job));
  }

  async process(options: SceneOptions = {}): Promise<JobConsumer> {
    const { work, due, standBackMs } = options;
    const ports: JobPorts = {
      jobs: this.jobs.source(),
      attempts: this.attempts,
      publish: this.jobs,
      clock: this.clock,
      random: () => 0.5,
      observe: (event) => this.events.push(event),
    };
    const consumer = new JobConsumer({
      rules: { ...JOB_DEFAULTS, ...options.rules },
      ports: { ...ports, ...options.ports?.(ports) },
      handler: {
        kind: "review",
        due: due ?? (async () => ({ generation: 0, due: this.isDone ? null : "all" })),
        work: async (task, signal) => {
          this.workedAt.push(this.elapsed);
          const outcome = (await work?.(task, signal, this.workedAt.length)) ?? { kind: "done" };
          if (outcome.kind === "done") this.isDone = true;
          return outcome;
        },
        ...(standBackMs === undefined ? {} : { standBackMs }),
      },
    });
    await consumer.start();
    return consumer;
  }

  get elapsed(): number {
    return this.clock.now() - this.#beganAt;
  }

  has(kind: JobEvent["kind"]): boolean {
    return this.events.some((event) => event.kind === kind);
  }

  /** Lets everything happen that needs no time. */
  async rest(): Promise<void> {
    for (let n = 0; n < 3; n++) await new Promise((resolve) => setImmediate(resolve));
  }

  async until(condition: () => boolean): Promise<void> {
    const end = this.clock.now() + LONGEST_MS;
    for (await this.rest(); !condition(); await this.rest()) {
      if (this.clock.nextAt > end) throw new Error(`it does not happen: ${JSON.stringify(this.events)}`);
      this.clock.moveTo(this.clock.nextAt);
    }
  }

  async pass(ms: number): Promise<void> {
    const end = this.clock.now() + ms;
    for (await this.rest(); this.clock.nextAt <= end; await this.rest()) this.clock.moveTo(this.clock.nextAt);
    this.clock.moveTo(end);
    await this.rest();
  }
}

/** A source whose deliveries answer otherwise. */
export function answering(source: JobSource, change: (job: JobDelivery) => Partial<JobDelivery>): JobSource {
  return {
    pull: (options) =>
      source.pull({
        ...options,
        onJob: (job) => {
          const { subject, seq, at, text, trace } = job;
          const methods: Pick<JobDelivery, "ack" | "nak" | "working" | "letGo"> = {
            ack: () => job.ack(),
            nak: (delayMs) => job.nak(delayMs),
            working: () => job.working(),
            letGo: () => job.letGo(),
          };
          options.onJob({ subject, seq, at, text, trace, ...methods, ...change(job) });
        },
      }),
  };
}

export const never = (): Promise<never> => new Promise(() => undefined);
