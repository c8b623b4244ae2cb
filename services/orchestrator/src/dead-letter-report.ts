import { DeadLetter, formatSessionId, parseDeadSubject, sessionOfKey } from "@troupe/contracts";
import type { ListedPublish } from "@troupe/kernel";
import type { Counter, Logger } from "@troupe/platform";

/** Of the log line; the letter holds the whole. */
const MAX_REASON_LENGTH = 200;

/** Something was given up on, and DEAD has acknowledged it: from now on only an operator can do anything about it. */
export function reportDeadLetter({ subject, body }: ListedPublish, counter: Counter<"kind">, log: Logger): void {
  const address = parseDeadSubject(subject);
  if (address === undefined) return;
  const { kind, key } = address;
  counter.inc({ kind });
  const known = sessionOfKey(key);
  const session = known === undefined ? key : formatSessionId(known.id);
  const read = DeadLetter.safeParse(body);
  const reason = read.success ? read.data.reason.slice(0, MAX_REASON_LENGTH).toWellFormed() : "unknown";
  log.warn({ session, reason }, `gave up on ${kind}: look at it with \`troupe dead list\``);
}
