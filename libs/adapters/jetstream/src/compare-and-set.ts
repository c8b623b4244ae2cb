import { readFromLeader } from "./stored-message.js";
import { publishOnce } from "./stored-publish.js";
import { headersOf, type Wire } from "./wire.js";
import { ApiError } from "./wire-error.js";

/** "Wrong last sequence", and the same when the server cannot say which one is right. */
const CONFLICTS: readonly number[] = [10_071, 10_164];

/** Whether a compare-and-set was refused because the entry is another one than was believed. */
export function isConflict(cause: unknown): boolean {
  return cause instanceof ApiError && CONFLICTS.includes(cause.code);
}

export interface ConditionalWrite {
  readonly subject: string;
  readonly text: string;
  /** The sequence that is believed to be the subject's newest; 0: there is none. */
  readonly revision: number;
}

/**
 * A write to a bucket that rolls up: it removes what it replaces. The new revision, or null when refused. Rejects when the
 * outcome is unknown or it was refused for another reason.
 */
export async function replaceIfUnchanged(
  wire: Wire,
  { subject, text, revision }: ConditionalWrite,
): Promise<number | null> {
  const rollUp = revision > 0 ? { "Nats-Rollup": "sub" } : {};
  const headers = headersOf({ "Nats-Expected-Last-Subject-Sequence": String(revision), ...rollUp });
  try {
    return (await publishOnce(wire, { subject, body: text, headers })).seq;
  } catch (cause) {
    if (isConflict(cause)) return null;
    throw cause;
  }
}

/** The newest entry as the leader has it, or null when there is none. */
export async function readNewest(
  wire: Wire,
  stream: string,
  subject: string,
): Promise<{ readonly revision: number; readonly text: string } | null> {
  const found = await readFromLeader(wire, stream, { last_by_subj: subject });
  return found && { revision: found.seq, text: found.text };
}
