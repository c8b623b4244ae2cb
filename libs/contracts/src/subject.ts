import { JOB_KINDS, type JobKind } from "./job.js";
import type { SessionKey } from "./session-id.js";
import { isToken } from "./token.js";

/**
 * Every subject of the system is built and read here; nobody else concatenates one.
 * A key is always the two tokens of a `SessionKey`.
 */

/** Kinds of actor the kernel hosts. */
export const ACTORS = ["session"] as const;
export type ActorKind = (typeof ACTORS)[number];

/**
 * Who a piece of mail comes from; each origin has publishers of its own.
 * `in` the channel's gateway · `ops` operators, into any channel · `work` workers · `self` timers and the consolidator.
 */
export const ORIGINS = ["in", "ops", "work", "self"] as const;
export type Origin = (typeof ORIGINS)[number];

export const mailSubject = (actor: ActorKind, key: SessionKey, origin: Origin): string =>
  `mail.${actor}.${key}.${origin}`;

/** A timer's schedule; `timerId` must be a token. It fires into the actor's `self` mail. */
export const timerSubject = (actor: ActorKind, key: SessionKey, timerId: string): string =>
  `timer.${actor}.${key}.${timerId}`;

export const outboxSubject = (key: SessionKey): string => `outbox.${key}`;
export const taskSubject = (pool: string): string => `task.${pool}`;
export const jobSubject = (kind: JobKind, key: SessionKey): string => `job.${kind}.${key}`;
export const auditSubject = (service: string, key: SessionKey): string => `audit.${service}.${key}`;

/** What is given up on as a dead letter. */
export const DEAD_KINDS = ["mail", "task", "job", "reply"] as const;
export type DeadKind = (typeof DEAD_KINDS)[number];

/** Where mail, a task, a job or a reply goes that is given up on; the key is that of its session, if that is known. */
export const deadSubject = (kind: DeadKind, key: SessionKey | null): string =>
  `dead.${kind}.${key ?? "unknown.unknown"}`;

/** The dead letters of one kind, of one session, or all: a filter. */
export function deadFilter(kind: DeadKind | undefined, key: SessionKey | undefined): string {
  if (key !== undefined) return `dead.${kind ?? "*"}.${key}`;
  return kind === undefined ? "dead.>" : `dead.${kind}.>`;
}

/** Core NATS, lossy: deltas and progress of one conversation. */
export const liveSubject = (key: SessionKey): string => `live.${key}`;

/** Core NATS request: offers a doorbell to the activation that holds the lease. */
export const ownerSubject = (owner: string): string => `owner.${owner}`;

/** Core NATS request: asks whoever shows previews of a turn to show no more. */
export const endingSubject = (key: SessionKey, turn: string): string => `ending.${key}.${turn}`;

export interface MailAddress {
  readonly actor: ActorKind;
  readonly key: SessionKey;
  readonly origin: Origin;
}

/** Reads a mail subject, or undefined when it is none. */
export function parseMailSubject(subject: string): MailAddress | undefined {
  const [head, actor, channel, conversation, origin, ...rest] = subject.split(".");
  if (head !== "mail" || rest.length > 0 || channel === undefined || conversation === undefined) return undefined;
  const knownActor = ACTORS.find((a) => a === actor);
  const knownOrigin = ORIGINS.find((o) => o === origin);
  if (knownActor === undefined || knownOrigin === undefined) return undefined;
  return { actor: knownActor, key: `${channel}.${conversation}` as SessionKey, origin: knownOrigin };
}

/** Reads the subject of a dead letter, or undefined when it is none. */
export function parseDeadSubject(subject: string): { readonly kind: DeadKind; readonly key: SessionKey } | undefined {
  const [head, what, channel, conversation, ...rest] = subject.split(".");
  const kind = DEAD_KINDS.find((one) => one === what);
  if (head !== "dead" || kind === undefined || rest.length > 0) return undefined;
  if (channel === undefined || conversation === undefined) return undefined;
  return { kind, key: `${channel}.${conversation}` as SessionKey };
}

/** Whether a subject is one that tasks, or jobs for the session of this key, are published to. */
export function isWorkSubject(kind: "task" | "job", key: SessionKey, subject: string): boolean {
  const [head, name, ...rest] = subject.split(".");
  if (head !== kind || name === undefined || !isToken(name)) return false;
  return kind === "task" ? rest.length === 0 : rest.join(".") === key;
}

export interface JobAddress {
  readonly kind: JobKind;
  readonly key: SessionKey;
}

/** Reads a job's subject, or undefined when it is none. */
export function parseJobSubject(subject: string): JobAddress | undefined {
  const [head, kind, channel, conversation, ...rest] = subject.split(".");
  if (head !== "job" || rest.length > 0 || channel === undefined || conversation === undefined) return undefined;
  const known = JOB_KINDS.find((one) => one === kind);
  return known && { kind: known, key: `${channel}.${conversation}` as SessionKey };
}

/** The key in `outbox.<channel>.<conversation>` or `live.<channel>.<conversation>`. */
export function keyOfSubject(subject: string): SessionKey | undefined {
  const [head, channel, conversation, ...rest] = subject.split(".");
  if (
    (head !== "outbox" && head !== "live") ||
    rest.length > 0 ||
    channel === undefined ||
    conversation === undefined
  ) {
    return undefined;
  }
  return `${channel}.${conversation}` as SessionKey;
}
