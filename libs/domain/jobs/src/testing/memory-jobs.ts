import { JOB_ACK_WAIT_MS, type JobDelivery, type JobPull, type JobSource, parseJobSubject } from "@troupe/contracts";
import type { Clock, ListedPublish, PublishPort } from "@troupe/kernel";

/** One message that waits in JOBS. */
export interface WaitingJob {
  readonly subject: string;
  readonly seq: number;
  readonly at: number;
  readonly text: string;
  readonly trace: string | undefined;
}

export interface DeadMessage {
  readonly id: string;
  readonly subject: string;
  readonly body: Readonly<Record<string, unknown>>;
}

interface Puller extends JobPull {
  inHand: number;
}

/** JOBS and DEAD in memory, with one consumer per kind, over any clock. */
export class MemoryJobs implements PublishPort {
  readonly dead: DeadMessage[] = [];
  readonly waiting = new Map<string, WaitingJob>();
  readonly #clock: Clock;
  readonly #ids = new Set<string>();
  readonly #pullers = new Set<Puller>();
  /** Not delivered now, for they are in somebody's hands or were given back with a delay; how to end that early. */
  readonly #hidden = new Map<WaitingJob, () => void>();
  #seq = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async publish({ id, subject, body, trace }: ListedPublish): Promise<"published" | "duplicate" | "waiting"> {
    if (this.#ids.has(id)) return "duplicate";
    const isJob = subject.startsWith("job.");
    if (isJob && this.waiting.has(subject)) return "waiting";
    this.#ids.add(id);
    if (isJob) this.put(subject, JSON.stringify(body), trace);
    else this.dead.push({ id, subject, body });
    return "published";
  }

  /** Whatever text somebody publishes; there must be none of this subject. */
  put(subject: string, text: string, trace?: string): WaitingJob {
    const job = { subject, seq: ++this.#seq, at: this.#clock.now(), text, trace };
    this.waiting.set(subject, job);
    this.#deliver();
    return job;
  }

  /** The source of one process. */
  source(): JobSource {
    return {
      pull: async (options) => {
        const puller: Puller = { ...options, inHand: 0 };
        this.#pullers.add(puller);
        this.#deliver();
        return { stop: async () => void this.#pullers.delete(puller) };
      },
    };
  }

  #deliver(): void {
    for (const job of this.waiting.values()) {
      if (this.#hidden.has(job)) continue;
      const kind = parseJobSubject(job.subject)?.kind ?? job.subject.split(".")[1];
      const puller = [...this.#pullers].find((one) => one.kind === kind && one.inHand < one.capacity);
      if (puller !== undefined) this.#hand(job, puller);
    }
  }

  #hand(job: WaitingJob, puller: Puller): void {
    this.#hide(job, JOB_ACK_WAIT_MS);
    puller.inHand += 1;
    puller.onJob(
      new MemoryDelivery(this, job, () => {
        puller.inHand -= 1;
        this.#deliver();
      }),
    );
  }

  #hide(job: WaitingJob, ms: number): void {
    this.#hidden.get(job)?.();
    const cancel = this.#clock.after(ms, () => {
      this.#hidden.delete(job);
      this.#deliver();
    });
    this.#hidden.set(job, cancel);
  }

  /** Through any delivery of it, as on a server. */
  settle(job: WaitingJob): void {
    if (this.waiting.get(job.subject) !== job) return;
    this.waiting.delete(job.subject);
    this.#hidden.get(job)?.();
    this.#hidden.delete(job);
  }

  delay(job: WaitingJob, ms: number): void {
    if (this.waiting.get(job.subject) === job) this.#hide(job, ms);
  }
}

class MemoryDelivery implements JobDelivery {
  readonly subject: string;
  readonly seq: number;
  readonly at: number;
  readonly text: string;
  readonly trace: string | undefined;
  readonly #broker: MemoryJobs;
  readonly #job: WaitingJob;
  #onDone: (() => void) | undefined;

  constructor(broker: MemoryJobs, job: WaitingJob, onDone: () => void) {
    this.subject = job.subject;
    this.seq = job.seq;
    this.at = job.at;
    this.text = job.text;
    this.trace = job.trace;
    this.#broker = broker;
    this.#job = job;
    this.#onDone = onDone;
  }

  async ack(): Promise<void> {
    this.#broker.settle(this.#job);
    this.letGo();
  }

  nak(delayMs: number): void {
    this.#broker.delay(this.#job, delayMs);
    this.letGo();
  }

  async working(): Promise<void> {
    this.#broker.delay(this.#job, JOB_ACK_WAIT_MS);
  }

  letGo(): void {
    const done = this.#onDone;
    this.#onDone = undefined;
    done?.();
  }
}
