import type { Bell, MailOrigin, MailPort, OwnerPort, PublishPort, StatePort } from "../ports.js";

/**
 * What the kernel relies on, as one suite that holds for every implementation of its ports. Each law
 * uses keys of its own, so all of them may run in one world, in any order.
 */
export interface PortWorld {
  readonly state: StatePort;
  readonly mail: MailPort;
  readonly publish: PublishPort;
  readonly owner: OwnerPort;
  readonly subjects: PortSubjects;
  /** The key of a conversation of this name, which may be any text. */
  keyOf(conversation: string): string;
  /** Puts mail into the log, as its writers do, and gives its sequence. */
  putMail(key: string, origin: MailOrigin, text: string): Promise<number>;
  /** A delivery of that mail's bell that nobody has answered yet. */
  ring(seq: number): Promise<Bell>;
  /** Acks the bell; that it leaves the queue may take a moment. */
  settle(seq: number): Promise<void>;
  /** Bodies of what has arrived at a subject and was not taken away, in order. */
  published(subject: string): Promise<readonly unknown[]>;
  /** Receives offers for the owners of a process; the result ends that. */
  serve(processId: string, take: (owner: string, bell: Bell) => boolean): Promise<() => Promise<void>>;
  /** The clock that schedules go by, milliseconds. */
  now(): number;
  /** Lets time pass until the condition holds; throws when it does not within some seconds. */
  until(condition: () => Promise<boolean>): Promise<void>;
}

/** Subjects that the world takes effects on. */
export interface PortSubjects {
  /** Takes any number of messages. */
  outbox(key: string): string;
  /** Takes one message at a time. */
  job(key: string): string;
  timer(key: string, timer: string): string;
  /** Mail that timers fire into. */
  self(key: string): string;
}

export interface PortLaw {
  readonly title: string;
  run(world: PortWorld): Promise<void>;
}
