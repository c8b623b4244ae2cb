import type { JobDelivery, JobSource, SessionKey } from "@troupe/contracts";
import type { Clock } from "@troupe/kernel";
import { JOB_DEFAULTS, JobConsumer, type JobEvent, type JobHandler, type JobRules } from "../src/index.js";
import { listedJob, MemoryEntries, MemoryJobs, VirtualClock } from "../src/testing/index.js";

/** Unprocessed messages from which on a job is due. */
export const THRESHOLD = 3;

/** What the handler of the test reads and writes, and what commits of the conversation move on. */
export class SimSession {
  generation = 0;
  revision = 0;
  count = 0;
  done = 0;
  /** Its work fails each time. */
  isPoison = false;

  get isDue(): boolean {
    return this.count - this.done >= THRESHOLD;
  }
}

/** One port call under way; what becomes of it is for whoever drives the world to say. */
export interface SimCall {
  readonly process: SimProcess;
  readonly label: string;
  readonly key: string;
  /** Lets it take effect, without anybody hearing of it. */
  perform(): Promise<unknown>;
  /** Takes effect and answers. */
  succeed(): Promise<void>;
  fail(): void;
}

/** Broker, sessions and processes; no port call happens before it is picked from `calls`. */
export class SimWorld {
  readonly clock = new VirtualClock();
  readonly jobs = new MemoryJobs(this.clock);
  readonly attempts = new MemoryEntries();
  readonly sessions = new Map<SessionKey, SimSession>();
  readonly processes: SimProcess[] = [];
  readonly events: JobEvent[] = [];
  readonly trace: string[] = [];
  calls: SimCall[] = [];
  #commits = 0;

  session(key: SessionKey): SimSession {
    const session = this.sessions.get(key) ?? new SimSession();
    this.sessions.set(key, session);
    return session;
  }

  /** Messages are added, or the conversation begins anew; what is due then is emitted, or refused (J1). */
  async commit(key: SessionKey, messages: number, reset = false): Promise<void> {
    const session = this.session(key);
    session.revision += 1;
    if (reset) Object.assign(session, { generation: session.generation + 1, count: 0, done: 0 });
    session.count += messages;
    if (!session.isDue) return;
    const id = `${key}:${++this.#commits}`;
    const { generation } = session;
    const outcome = await this.jobs.publish(listedJob(id, { kind: "consolidation", key, generation }));
    this.trace.push(`commit of ${key} (${session.done} to ${session.count}): ${outcome}`);
  }

  async start(rules: Partial<JobRules> = {}): Promise<SimProcess> {
    const process = new SimProcess(this, `p${this.processes.length + 1}`, { ...JOB_DEFAULTS, ...rules });
    this.processes.push(process);
    await process.consumer.start();
    return process;
  }

  get isQuiet(): boolean {
    return this.jobs.waiting.size === 0 && this.calls.length === 0 && this.processes.every((one) => one.isIdle);
  }
}

export class SimProcess {
  readonly name: string;
  readonly consumer: JobConsumer;
  isAlive = true;
  /** Stopped where it stands: nothing of it goes on, and its timers are late. */
  isPaused = false;
  /** Subjects whose job it has taken off the queue, and what follows from the look behind that is not done yet (J3). */
  readonly settling = new Set<string>();
  readonly #world: SimWorld;
  #stopPull: () => Promise<void> = async () => undefined;
  #late: (() => void)[] = [];

  constructor(world: SimWorld, name: string, rules: JobRules) {
    this.name = name;
    this.#world = world;
    this.consumer = new JobConsumer({
      rules,
      handler: this.#handler(),
      ports: {
        jobs: this.#source(),
        attempts: {
          read: (key) => this.call("read attempts", key, () => world.attempts.read(key)),
          write: (key, text, revision) =>
            this.call("write attempts", key, () => world.attempts.write(key, text, revision)),
        },
        publish: { publish: (effect) => this.call("publish", effect.subject, () => world.jobs.publish(effect)) },
        clock: this.#clock(),
        random: () => 0.5,
        observe: (event) => {
          if (event.kind === "settled") this.settling.delete(event.subject);
          world.events.push(event);
        },
      },
    });
  }

  get isIdle(): boolean {
    return !this.isAlive || this.consumer.size === 0;
  }

  async kill(): Promise<void> {
    this.isAlive = false;
    this.#world.calls = this.#world.calls.filter((call) => call.process !== this);
    await this.#stopPull();
  }

  resume(): void {
    this.isPaused = false;
    for (const callback of this.#late.splice(0)) callback();
  }

  call<T>(label: string, key: string, perform: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (!this.isAlive) return;
      this.#world.calls.push({
        process: this,
        label,
        key,
        perform,
        succeed: () => perform().then(resolve, reject),
        fail: () => reject(new Error(`${label} failed`)),
      });
    });
  }

  #clock(): Clock {
    const { clock } = this.#world;
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after: (ms, callback) => {
        let isCancelled = false;
        const fire = (): void => {
          if (isCancelled || !this.isAlive) return;
          if (this.isPaused) this.#late.push(fire);
          else callback();
        };
        const cancel = clock.after(ms, fire);
        return () => {
          isCancelled = true;
          cancel();
        };
      },
    };
  }

  #source(): JobSource {
    const { jobs } = this.#world;
    return {
      pull: async (options) => {
        const pull = await jobs.source().pull({ ...options, onJob: (job) => options.onJob(this.#delivery(job)) });
        this.#stopPull = () => pull.stop();
        return pull;
      },
    };
  }

  #delivery(job: JobDelivery): JobDelivery {
    const { subject, seq, at, text, trace } = job;
    return {
      subject,
      seq,
      at,
      text,
      trace,
      ack: () =>
        this.call("ack", subject, () => {
          this.settling.add(subject);
          return job.ack();
        }),
      working: () => this.call("working", subject, () => job.working()),
      nak: (delayMs) => void this.call("nak", subject, async () => job.nak(delayMs)).catch(() => undefined),
      letGo: () => job.letGo(),
    };
  }

  #handler(): JobHandler {
    const world = this.#world;
    return {
      kind: "consolidation",
      due: (key) =>
        this.call("look", key, async () => {
          const { generation, done, isDue } = world.session(key);
          return { generation, due: isDue ? `${generation}:${done}` : null };
        }),
      work: async ({ key }) => {
        const read = await this.call("load", key, async () => {
          const { generation, done, count } = world.session(key);
          return { generation, done, count };
        });
        await this.call("model", key, async () => undefined);
        if (world.session(key).isPoison) return { kind: "retry", reason: "the model has no answer to this" };
        const isStored = await this.call("store", key, async () => {
          const session = world.session(key);
          if (session.generation !== read.generation || session.done !== read.done) return false;
          session.revision += 1;
          session.done = read.count;
          return true;
        });
        return { kind: isStored ? "done" : "stale" };
      },
    };
  }
}
