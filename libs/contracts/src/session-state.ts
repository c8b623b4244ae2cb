import { z } from "zod";
import { TextRest } from "./large-text.js";
import { TurnError } from "./outbox.js";

/**
 * The session's entry in the `sessions` bucket, as every service that reads it sees it.
 * Instants inside the state are milliseconds since the epoch; the HTTP API shows ISO 8601.
 */

export const ToolCall = z.object({
  id: z.string().min(1),
  type: z.literal("function"),
  function: z.object({ name: z.string(), arguments: z.string() }),
});

const Logged = z.object({
  turn: z.string(),
  at: z.number().int(),
  /** Of a content too large for the state, which is then its beginning. */
  rest: TextRest.optional(),
});

/** One entry of the append-only log; its absolute index is `log.from` plus its place in the tail. */
export const LogMessage = z.discriminatedUnion("role", [
  Logged.extend({ role: z.literal("user"), content: z.string() }),
  Logged.extend({
    role: z.literal("assistant"),
    content: z.string().nullable(),
    tool_calls: z.array(ToolCall).optional(),
    /** Set when this is an honest failure told to the person: part of the record, not shown to the model. */
    failed: z.literal(true).optional(),
  }),
  Logged.extend({
    role: z.literal("tool"),
    tool_call_id: z.string().min(1),
    content: z.string(),
    isError: z.boolean(),
    blob: z.string().nullable(),
  }),
]);
export type LogMessage = z.infer<typeof LogMessage>;

/**
 * A sealed piece of the log, messages `from` to `to` (exclusive), in the bucket `segments`. At level 0 it
 * holds the messages; above, the refs of the pieces one level below. With the digest it names one exact entry.
 */
export const SegmentRef = z.object({
  from: z.number().int().nonnegative(),
  to: z.number().int().positive(),
  level: z.number().int().nonnegative(),
  /** Rough size of its messages for a model. */
  tokens: z.number().int().nonnegative(),
  /** Whether its first message is a user message. */
  beginsTurn: z.boolean(),
  digest: z.string().regex(/^[0-9a-f]{64}$/),
});
export type SegmentRef = z.infer<typeof SegmentRef>;

/** The body of a segment. */
export const Segment = z.union([z.object({ messages: z.array(LogMessage) }), z.object({ refs: z.array(SegmentRef) })]);
export type Segment = z.infer<typeof Segment>;

/** The segment's key in its bucket (K12). */
export function segmentKey(key: string, generation: number, { from, to, digest }: SegmentRef): string {
  return `${key}.${generation}.${from}-${to}.${digest}`;
}

export const QueuedMessage = z.object({
  turn: z.string(),
  messageId: z.string(),
  digest: z.string(),
  text: z.string(),
  rest: TextRest.optional(),
  instructions: z.string().optional(),
  instructionsRest: TextRest.optional(),
  introduce: z.boolean(),
  trace: z.string().optional(),
  at: z.number().int(),
});
export type QueuedMessage = z.infer<typeof QueuedMessage>;

export const Turn = z.object({
  id: z.string(),
  status: z.enum(["running", "waiting_approval", "waiting_tasks", "waiting_person"]),
  since: z.number().int(),
  deadlineAt: z.number().int(),
  /** Model calls decided so far. */
  steps: z.number().int().nonnegative(),
  /** Tokens used so far, input and output. */
  tokens: z.number().int().nonnegative(),
  /** Raised whenever a preview that was shown has to be thrown away. */
  attempt: z.number().int().positive(),
  /** How often the turn was taken over since its last step forward. */
  resumes: z.number().int().nonnegative().default(0),
  /** Answers in a row that held nothing to show. */
  emptyAnswers: z.number().int().nonnegative(),
  instructions: z.string().optional(),
  instructionsRest: TextRest.optional(),
  introduce: z.boolean(),
  trace: z.string().optional(),
});
export type Turn = z.infer<typeof Turn>;

/** What became of a recent message: enough to answer the same client id again. */
export const RecentTurn = z.object({
  messageId: z.string(),
  digest: z.string(),
  turn: z.string(),
  final: z
    .object({
      kind: z.enum(["answer", "error", "cancelled", "merged"]),
      /** The whole text when the log does not hold it, else null. */
      text: z.string().nullable(),
      introduction: z.string().nullable(),
      index: z.number().int().nonnegative(),
      at: z.number().int(),
      error: TurnError.nullable(),
      mergedInto: z.string().nullable(),
      generation: z.number().int(),
    })
    .nullable(),
});
export type RecentTurn = z.infer<typeof RecentTurn>;

/** What a control message did, so that the gateway that sent it can answer. */
export const ControlOutcome = z.object({
  id: z.string(),
  turn: z.string().nullable(),
  generation: z.number().int(),
});
export type ControlOutcome = z.infer<typeof ControlOutcome>;

export const SessionFields = z.object({
  generation: z.number().int().nonnegative(),
  createdAt: z.number().int(),
  updatedAt: z.number().int(),
  messageCount: z.number().int().nonnegative(),
  lastConsolidated: z.number().int().nonnegative(),
  log: z.object({
    /** What is sealed, oldest first; absent in states of before sealing. */
    segments: z.array(SegmentRef).default([]),
    /** Absolute index of the tail's first message. */
    from: z.number().int().nonnegative(),
    tail: z.array(LogMessage),
  }),
  turn: Turn.nullable(),
  /** Messages that wait for their own turn, oldest first. */
  queued: z.array(QueuedMessage),
  /** Messages that join the running turn at its next step. */
  steered: z.array(QueuedMessage),
  /** Whether an answer of this generation carried the introduction. */
  introduced: z.boolean(),
  /** What the model is shown in place of the messages before `upTo`; the log keeps them. */
  summary: z.object({ text: z.string(), upTo: z.number().int().positive() }).nullable(),
  /** Whether a summary is being made. */
  summarising: z.boolean().default(false),
  recent: z.array(RecentTurn),
  controls: z.array(ControlOutcome),
  erased: z.boolean(),
});
export type SessionFields = z.infer<typeof SessionFields>;

/** The kernel's part of an entry (K1); `effects` are outstanding runs and publishes, opaque here. */
export const EntryHead = z.object({
  schema: z.number().int().positive(),
  cursors: z.object({
    user: z.number().int().nonnegative(),
    control: z.number().int().nonnegative(),
    ops: z.number().int().nonnegative(),
    cut: z.number().int().nonnegative(),
  }),
  lease: z.object({ owner: z.string(), until: z.number().int() }).nullable(),
  epoch: z.number().int().nonnegative(),
});

export const SessionEntry = EntryHead.extend({ fields: SessionFields });
export type SessionEntry = z.infer<typeof SessionEntry>;

/**
 * Version of the session entry's form; a reader leaves a higher one alone. Any field that is added raises it, with a
 * default for entries of before: a service that does not know the field would leave it out of what it writes.
 */
export const SESSION_SCHEMA = 1;
