import type { ListedPublish } from "../entry.js";
import type { MailItem, MailOrigin, StoredEntry, WriteOutcome } from "../ports.js";

/**
 * A broker in memory: what JetStream does for the kernel, synchronously and without faults. Ports
 * and simulation put time, faults and concurrency around it.
 */
export interface StoredMail extends MailItem {
  readonly key: string;
  /** Identity of the log that took it in. */
  readonly log: string;
}

export interface PublishedMessage {
  readonly id: string;
  readonly subject: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Timers fire into a stream of their own: their bells have numbers far above those of the log. */
const TIMERS_FROM = 1_000_000_000;

export class MemoryBroker {
  readonly published: PublishedMessage[] = [];
  /** Subjects that take one message at a time, as JOBS does. */
  readonly isOnePerSubject: (subject: string) => boolean;
  readonly segments = new Map<string, string>();
  readonly blobs = new Map<string, string>();
  readonly #history = new Map<string, StoredEntry[]>();
  readonly #mail = new Map<number, StoredMail>();
  readonly #ids = new Set<string>();
  #schedules: { readonly at: number; readonly effect: ListedPublish }[] = [];
  #revision = 0;
  #seq = 0;
  #timers = TIMERS_FROM;
  #log = 1;

  constructor(isOnePerSubject: (subject: string) => boolean = (subject) => subject.startsWith("job.")) {
    this.isOnePerSubject = isOnePerSubject;
  }

  /** The entry as it was `behind` writes ago; 0 is the newest. */
  read(key: string, behind = 0): StoredEntry | null {
    const history = this.#history.get(key) ?? [];
    return history[history.length - 1 - behind] ?? null;
  }

  write(key: string, text: string, revision: number): WriteOutcome {
    const history = this.#history.get(key) ?? [];
    if ((history.at(-1)?.revision ?? 0) !== revision) return { kind: "refused" };
    this.#revision += 1;
    history.push({ revision: this.#revision, text });
    this.#history.set(key, history);
    return { kind: "stored", revision: this.#revision };
  }

  get log(): string {
    return `mail-${this.#log}`;
  }

  putMail(key: string, origin: MailOrigin, text: string, at: number): StoredMail {
    const seq = origin === "self" ? ++this.#timers : ++this.#seq;
    const item: StoredMail = { key, log: this.log, seq, origin, at, text };
    this.#mail.set(seq, item);
    return item;
  }

  /** The log is made anew: its mail is gone, its sequences begin again. Timers are not in it. */
  recreateLog(): void {
    this.#log += 1;
    this.#seq = 0;
    for (const [seq, item] of this.#mail) if (item.origin !== "self") this.#mail.delete(seq);
  }

  /** Waiting mail of one literal subject; `upTo` hides what a lagging replica does not have yet. */
  readMail(key: string, origin: MailOrigin, range: { from: number; limit: number; upTo?: number }): MailItem[] {
    const { from, limit, upTo = Infinity } = range;
    return [...this.#mail.values()]
      .filter((x) => x.key === key && x.origin === origin && x.seq >= from && x.seq <= upTo)
      .slice(0, limit)
      .map(itemOf);
  }

  get lastSeq(): number {
    return this.#seq;
  }

  waiting(seq: number): boolean {
    return this.#mail.has(seq);
  }

  waitingMail(): StoredMail[] {
    return [...this.#mail.values()];
  }

  /** Takes this mail out of the queue; whether it was there. One of an older log settles nothing. */
  settle(item: StoredMail): boolean {
    return this.#mail.get(item.seq) === item && this.#mail.delete(item.seq);
  }

  publish(effect: ListedPublish): "published" | "duplicate" | "waiting" {
    if (this.#ids.has(effect.id)) return "duplicate";
    if (this.isOnePerSubject(effect.subject) && this.published.some((x) => x.subject === effect.subject))
      return "waiting";
    this.#ids.add(effect.id);
    if (effect.schedule) this.#schedules.push({ at: effect.schedule.at, effect });
    else this.published.push({ id: effect.id, subject: effect.subject, body: effect.body });
    return "published";
  }

  /** The duplicate window ends: ids seen so far may be published again. */
  forgetIds(): void {
    this.#ids.clear();
  }

  /** Schedules that are due, in the order of their times; the caller puts them into the mail of their target. */
  takeDue(now: number): ListedPublish[] {
    const due = this.#schedules.filter((x) => x.at <= now).sort((a, b) => a.at - b.at);
    this.#schedules = this.#schedules.filter((x) => x.at > now);
    return due.map((x) => x.effect);
  }

  nextScheduleAt(): number {
    return Math.min(Infinity, ...this.#schedules.map((x) => x.at));
  }
}

export function itemOf({ seq, origin, at, text }: StoredMail): MailItem {
  return { seq, origin, at, text };
}
