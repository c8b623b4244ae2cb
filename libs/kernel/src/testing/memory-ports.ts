import type { Bell, BlobPort, MailOrigin, MailPort, OwnerPort, PublishPort, SegmentPort, StatePort } from "../ports.js";
import { itemOf, MemoryBroker, type StoredMail } from "./memory-broker.js";
import type { PortSubjects, PortWorld } from "./port-laws-world.js";

/**
 * The kernel's ports over a broker in memory, without faults, and the world around them: mail
 * arrives, bells ring, and time is virtual and goes on only while somebody waits.
 */
const TICK_MS = 100;
const LONGEST_WAIT_MS = 60_000;
const SELF = /^mail\.(.*)\.self$/s;

export class MemoryPorts implements PortWorld {
  readonly broker = new MemoryBroker();
  readonly subjects: PortSubjects = {
    outbox: (key) => `outbox.${key}`,
    job: (key) => `job.${key}`,
    timer: (key, timer) => `timer.${key}.${timer}`,
    self: (key) => `mail.${key}.self`,
  };

  readonly state: StatePort = {
    read: async (key) => this.broker.read(key),
    write: async (key, text, revision) => this.broker.write(key, text, revision),
  };

  readonly mail: MailPort = {
    identity: async () => this.broker.log,
    read: async (key, origin, from, limit) => this.broker.readMail(key, origin, { from, limit }),
    waiting: async (seq) => this.broker.waiting(seq),
  };

  readonly segments: SegmentPort = {
    create: async (name, text) => void this.broker.segments.set(name, text),
  };

  readonly blobs: BlobPort = {
    create: async (name, text) => {
      this.broker.blobs.set(name, text);
      return { kind: "stored" };
    },
  };

  readonly publish: PublishPort = { publish: async (effect) => this.broker.publish(effect) };

  readonly owner: OwnerPort = {
    offer: async (owner, bell) => {
      const [, take] = [...this.#servers].find(([processId]) => owner.startsWith(`${processId}-`)) ?? [];
      if (take === undefined) return "silent";
      return take(owner, bell) ? "taken" : "declined";
    },
  };

  readonly #servers = new Map<string, (owner: string, bell: Bell) => boolean>();
  readonly #deliveries = new Map<StoredMail, number>();
  #now = Date.UTC(2026, 0, 1);

  now(): number {
    return this.#now;
  }

  keyOf(conversation: string): string {
    return `memory.${conversation}`;
  }

  async putMail(key: string, origin: MailOrigin, text: string): Promise<number> {
    return this.broker.putMail(key, origin, text, this.#now).seq;
  }

  async ring(seq: number): Promise<Bell> {
    const mail = this.#find(seq);
    const delivery = (this.#deliveries.get(mail) ?? 0) + 1;
    this.#deliveries.set(mail, delivery);
    const ack = () => void this.broker.settle(mail);
    return { key: mail.key, item: itemOf(mail), redelivered: delivery > 1, ack, nak: ignore, working: ignore };
  }

  async settle(seq: number): Promise<void> {
    this.broker.settle(this.#find(seq));
  }

  #find(seq: number): StoredMail {
    const mail = this.broker.waitingMail().find((x) => x.seq === seq);
    if (mail === undefined) throw new Error(`no mail ${seq} is waiting`);
    return mail;
  }

  async published(subject: string): Promise<readonly unknown[]> {
    const key = SELF.exec(subject)?.[1];
    if (key === undefined) return this.broker.published.filter((x) => x.subject === subject).map((x) => x.body);
    const fired = this.broker.waitingMail().filter((x) => x.key === key && x.origin === "self");
    return fired.map((x): unknown => JSON.parse(x.text));
  }

  async serve(processId: string, take: (owner: string, bell: Bell) => boolean): Promise<() => Promise<void>> {
    this.#servers.set(processId, take);
    return async () => void this.#servers.delete(processId);
  }

  async until(condition: () => Promise<boolean>): Promise<void> {
    for (const endsAt = this.#now + LONGEST_WAIT_MS; !(await condition()); this.#now += TICK_MS) {
      if (this.#now > endsAt) throw new Error(`the condition does not hold after ${LONGEST_WAIT_MS} ms`);
      this.#fireTimers();
    }
  }

  #fireTimers(): void {
    for (const { schedule, body } of this.broker.takeDue(this.#now)) {
      const key = SELF.exec(schedule?.target ?? "")?.[1];
      if (key !== undefined) this.broker.putMail(key, "self", JSON.stringify(body), this.#now);
    }
  }
}

const ignore = (): void => undefined;
