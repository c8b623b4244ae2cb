import { setTimeout as delay } from "node:timers/promises";
import { HEADER, STREAM } from "@troupe/contracts";
import type { ListedPublish, PublishPort } from "@troupe/kernel";
import { type Bus, wireOf } from "./bus.js";
import { publishSurely } from "./stored-publish.js";
import { fullOr, isFull } from "./stream-full.js";
import { headersOf, type Wire } from "./wire.js";
import { ApiError } from "./wire-error.js";

/**
 * Effects of a stored commit on their way out (K3): copied as they are listed, under their final id.
 * A schedule (K10) is a message with the time and the target in its headers; the server fires it once.
 */
export function publishPort(bus: Bus): PublishPort {
  const wire = wireOf(bus);
  return { publish: (effect) => publishEffect(wire, effect) };
}

/** Before a publish that found no room is answered: whoever is told tries again. */
const FULL_PAUSE_MS = 1_000;
const STORE_FAILED = 10_077;
/** The server says all refusals of a full store by one code; the text tells them apart. */
const ONE_WAITS = /maximum messages per subject exceeded/;

async function publishEffect(wire: Wire, effect: ListedPublish): Promise<"published" | "duplicate" | "waiting"> {
  const { id, subject, body, trace, schedule } = effect;
  const headers = headersOf({
    [HEADER.msgId]: id,
    [HEADER.trace]: trace,
    "Nats-Schedule": schedule && `@at ${new Date(schedule.at).toISOString()}`,
    "Nats-Schedule-Target": schedule?.target,
  });
  try {
    const stored = await publishSurely(wire, { subject, body: JSON.stringify(body), headers });
    return stored.duplicate ? "duplicate" : "published";
  } catch (cause) {
    if (isOneWaiting(cause)) return "waiting";
    if (isFull(cause)) await delay(FULL_PAUSE_MS);
    throw fullOr(cause, storeOf(subject));
  }
}

const STREAM_OF: Readonly<Record<string, string>> = {
  outbox: STREAM.outbox,
  task: STREAM.tasks,
  job: STREAM.jobs,
  audit: STREAM.audit,
  dead: STREAM.dead,
  timer: STREAM.timers,
  mail: STREAM.mail,
};
const storeOf = (subject: string): string => STREAM_OF[subject.slice(0, subject.indexOf("."))] ?? subject;

/** Whether a message was refused because one of its subject waits already (JOBS). */
export function isOneWaiting(cause: unknown): boolean {
  return cause instanceof ApiError && cause.code === STORE_FAILED && ONE_WAITS.test(cause.message);
}
