import type { SessionFields } from "@troupe/contracts";
import { sessionEntry } from "@troupe/testkit";

/** What the played orchestrator keeps of a session. */
export interface FakeSession {
  fields: SessionFields;
  revision: number;
  running: { turn: string; abort: AbortController } | null;
  lane: Promise<void>;
}

/** A session that begins now. */
export function newFields(): SessionFields {
  const now = Date.now();
  return sessionEntry({ createdAt: now, updatedAt: now }).fields;
}
