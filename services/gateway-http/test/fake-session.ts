import type { SessionFields } from "@troupe/contracts";

/** What the played orchestrator keeps of a session. */
export interface FakeSession {
  fields: SessionFields;
  revision: number;
  running: { turn: string; abort: AbortController } | null;
  lane: Promise<void>;
}

export const newFields = (): SessionFields => ({
  generation: 0,
  createdAt: Date.now(),
  updatedAt: Date.now(),
  messageCount: 0,
  lastConsolidated: 0,
  log: { segments: [], from: 0, tail: [] },
  turn: null,
  queued: [],
  steered: [],
  introduced: false,
  summary: null,
  summarising: false,
  recent: [],
  controls: [],
  erased: false,
});
