import type { RecentTurn, SessionEntry, SessionFields } from "@troupe/contracts";

/** A session's entry with what a test cares about. */
export function sessionEntry(fields: Partial<SessionFields> = {}): SessionEntry {
  return {
    schema: 1,
    cursors: { user: 0, control: 0, ops: 0, cut: 0 },
    lease: null,
    epoch: 0,
    fields: {
      generation: 0,
      createdAt: 1_700_000_000_000,
      updatedAt: 1_700_000_000_000,
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
      ...fields,
    },
  };
}

export const runningTurn = (id: string, status: "running" | "waiting_tasks" = "running") => ({
  id,
  status,
  since: 1_700_000_000_123,
  deadlineAt: 1_700_000_600_000,
  steps: 2,
  tokens: 0,
  attempt: 1,
  resumes: 0,
  emptyAnswers: 0,
  introduce: false,
});

export const waitingMessage = (turn: string) => ({
  turn,
  messageId: `m-${turn}`,
  digest: "d",
  text: "x",
  introduce: false,
  at: 1_700_000_000_000,
});

export const answered = (turn: string, final: Partial<NonNullable<RecentTurn["final"]>> = {}): RecentTurn => ({
  messageId: `m-${turn}`,
  digest: "d",
  turn,
  final: {
    kind: "answer",
    text: null,
    introduction: null,
    index: 1,
    at: 1_700_000_000_456,
    error: null,
    mergedInto: null,
    generation: 0,
    ...final,
  },
});
