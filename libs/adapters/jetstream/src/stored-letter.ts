import { DeadLetter, type DeadKind, type Decoded, decode, parseDeadSubject, type SessionKey } from "@troupe/contracts";
import type { StoredMessage } from "./stored-message.js";

/** What lies in DEAD at one sequence. What kind it is and whose is said by its subject, even when it cannot be read. */
export interface StoredLetter {
  /** Its place in DEAD: what a person calls it by. */
  readonly seq: number;
  /** When it was put there, milliseconds since the epoch. */
  readonly at: number;
  /** Null when the subject is none of ours. */
  readonly kind: DeadKind | null;
  readonly key: SessionKey | null;
  /** `newer`: by a service of a later version. `invalid`: it cannot be read, or says something else than its subject. */
  readonly content: Decoded<DeadLetter>;
  /** The message as it lies there. */
  readonly text: string;
}

export function storedLetter({ seq, at, subject, text }: StoredMessage): StoredLetter {
  const address = parseDeadSubject(subject);
  const { kind = null, key = null } = address ?? {};
  const content = decode(DeadLetter, text);
  const isMisplaced = content.kind === "ok" && content.message.kind !== kind;
  const reason = `its subject is ${subject}`;
  return { seq, at, kind, key, content: isMisplaced ? { kind: "invalid", reason } : content, text };
}
