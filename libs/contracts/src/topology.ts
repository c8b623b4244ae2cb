import { JOB_KINDS, JOBS } from "./job.js";
import type { Retention } from "./retention.js";
import type { BucketSpec, ConsumerSpec, ObjectStoreSpec, StreamSpec, Topology } from "./topology-spec.js";

/**
 * The whole topology as data. The JetStream adapter provisions exactly this; `docs/subjects.md` is made from it.
 * Durations in milliseconds, sizes in bytes.
 */
export const STREAM = {
  mail: "MAIL",
  timers: "TIMERS",
  outbox: "OUTBOX",
  tasks: "TASKS",
  jobs: "JOBS",
  audit: "AUDIT",
  dead: "DEAD",
} as const;

export const BUCKET = {
  sessions: "sessions",
  segments: "segments",
  inbound: "inbound",
  deliveries: "deliveries",
  pauses: "pauses",
  attempts: "attempts",
} as const;

export const BLOBS = "blobs";

/** The doorbell consumers of session actors, shared by all orchestrators: on MAIL, and on TIMERS. */
export const SESSION_BELLS = "session-bells";
export const SESSION_TIMER_BELLS = "session-timer-bells";

const MIB = 1024 * 1024;
const HOUR_MS = 3_600_000;

/** First line of deduplication only: what came later is caught by state and ledger. */
const DUPLICATE_WINDOW_MS = 120_000;

/**
 * A bell whose owner died is rung again after this. Short, so that a killed orchestrator delays its
 * turns by seconds; the owner says `working` well before half of it (K7).
 */
export const BELL_ACK_WAIT_MS = 3_000;

/** A job whose process died is delivered again after this. Nobody waits for a job, so it need not be as short as a bell's. */
export const JOB_ACK_WAIT_MS = 10_000;

/** Streams as data; `limits` names the section of `retention` that sets age and size. */
const STREAMS: readonly (Omit<StreamSpec, "maxAgeMs" | "maxBytes" | "duplicateWindowMs"> & {
  readonly limits: "mail" | "outbox" | "tasks" | "jobs" | "audit" | "dead" | "none";
})[] = [
  {
    name: STREAM.mail,
    subjects: ["mail.*.*.*.in", "mail.*.*.*.ops", "mail.*.*.*.work"],
    retention: "workqueue",
    discard: "new",
    onePerSubject: false,
    schedules: false,
    limits: "mail",
    holds: "what actors have yet to read",
    reason: "Full means refused (503), never dropped: accepted mail must be answered.",
  },
  {
    name: STREAM.timers,
    subjects: ["timer.>", "mail.*.*.*.self"],
    retention: "workqueue",
    discard: "old",
    onePerSubject: false,
    schedules: true,
    limits: "none",
    holds: "timers, and the `self` mail they fire into",
    reason:
      "A stream of its own: the server allows no schedules in a stream that refuses new messages, and whoever may publish to a stream with schedules can have a message fired at any subject of it. Without limits, because each timer is listed by a session and none may be dropped.",
  },
  {
    name: STREAM.outbox,
    subjects: ["outbox.>"],
    retention: "limits",
    discard: "old",
    onePerSubject: false,
    schedules: false,
    limits: "outbox",
    holds: "replies and notices on their way to people",
    reason: "Clients resume from it; old replies stay in the session's history.",
  },
  {
    name: STREAM.tasks,
    subjects: ["task.>"],
    retention: "workqueue",
    discard: "new",
    onePerSubject: false,
    schedules: false,
    limits: "tasks",
    holds: "delegated tasks",
    reason: "A task that does not fit is refused to the orchestrator that answers for it.",
  },
  {
    name: STREAM.jobs,
    subjects: ["job.>"],
    retention: "workqueue",
    discard: "new",
    onePerSubject: true,
    schedules: false,
    limits: "jobs",
    holds: "derived work: consolidation, embedding, review",
    reason: "One waiting job per kind and key is enough: it reads the newest state when it runs.",
  },
  {
    name: STREAM.audit,
    subjects: ["audit.>"],
    retention: "limits",
    discard: "old",
    onePerSubject: false,
    schedules: false,
    limits: "audit",
    holds: "audit events until the auditor has them",
    reason: "The auditor's chain is the record; this is its inbox.",
  },
  {
    name: STREAM.dead,
    subjects: ["dead.>"],
    retention: "limits",
    discard: "old",
    onePerSubject: false,
    schedules: false,
    limits: "dead",
    holds: "mail, tasks, jobs and replies given up on, with the reason",
    reason: "Kept long enough for a person to look, then dropped.",
  },
];

const CONSUMERS: readonly ConsumerSpec[] = [
  {
    stream: STREAM.timers,
    name: SESSION_TIMER_BELLS,
    filter: "mail.session.*.*.self",
    ackWaitMs: BELL_ACK_WAIT_MS,
    maxDeliver: -1,
    maxAckPending: -1,
    reason: "As for the bells of MAIL.",
  },
  {
    stream: STREAM.mail,
    name: SESSION_BELLS,
    filter: "mail.session.>",
    ackWaitMs: BELL_ACK_WAIT_MS,
    maxDeliver: -1,
    maxAckPending: -1,
    reason:
      "A bell rings until its mail is settled. A delayed nak holds a pending slot, so a limit would let a busy crowd stop everybody; each process bounds its own pulls.",
  },
  ...JOB_KINDS.map((kind) => ({
    stream: STREAM.jobs,
    name: JOBS[kind].consumer,
    filter: `job.${kind}.>`,
    ackWaitMs: JOB_ACK_WAIT_MS,
    maxDeliver: -1,
    maxAckPending: -1,
    reason: "One per kind, for a work queue allows no two on one subject. Retries are delayed naks, as with bells.",
  })),
];

const small = (name: string, key: string, holds: string, reason: string): BucketSpec => ({
  name,
  key,
  ttlMs: 0,
  maxBytes: 64 * MIB,
  holds,
  reason,
});

/** Buckets with fixed limits; those that `retention` sets are added by `topology`. */
const SMALL_BUCKETS: readonly BucketSpec[] = [
  small("approvals", "<key>.<id>", "approval records", "Small: one per asked action."),
  small("blackboard", "<key>.<id>", "what workers of one delegation share", "Small: findings, not files."),
  small("memory", "<scope>.<id>", "long-term memory items", "Kept until forgotten or erased."),
  small("skills", "<id>", "skills learned", "Small and few."),
  small("schedules", "<id>", "recurring work", "Small and few."),
  small("workers", "<id>", "who works, seen when", "Small: one per process."),
  small("principals", "<id>", "people and their roles", "Small and few."),
  small("tokens", "<sha256>", "digests of access tokens", "Small and few."),
  small("pairings", "<channel>.<id>", "which account is which person", "Small and few."),
  {
    ...small(BUCKET.pauses, "<sha256>", "until when a model provider is left alone", "Lives as long as a pause may."),
    ttlMs: HOUR_MS,
    maxBytes: MIB,
  },
  {
    ...small(
      BUCKET.attempts,
      "<kind>.<key>",
      "attempts at the jobs that wait",
      "Lives longer than any back-off between two attempts.",
    ),
    ttlMs: 24 * HOUR_MS,
  },
  small("checkpoints", "<service>", "how far a reader has come", "Small: one per reader."),
];

const BLOB_STORE: Omit<ObjectStoreSpec, "maxBytes"> = {
  name: BLOBS,
  holds: "anything over 128 KiB",
  reason: "Keeps state and messages under the server's max_payload.",
};

/** The topology under the limits that the configuration sets. */
export function topology(retention: Retention): Topology {
  return {
    streams: STREAMS.map(({ limits, ...spec }) => ({
      ...spec,
      ...(limits === "none" ? { maxAgeMs: 0, maxBytes: -1 } : retention[limits]),
      duplicateWindowMs: DUPLICATE_WINDOW_MS,
    })),
    consumers: CONSUMERS,
    buckets: [...largeBuckets(retention), ...SMALL_BUCKETS],
    objectStores: [{ ...BLOB_STORE, ...retention.blobs }],
  };
}

/**
 * Bytes of the delivery ledger for each of OUTBOX. The smallest reply takes 340 bytes there, its record 350 to 600: with a
 * receipt or a reason. A ledger that is full stops all deliveries, so OUTBOX has to be the first that drops something.
 */
const LEDGER_PER_OUTBOX = 2;
/** Records outlive the replies that OUTBOX drops for want of room. */
const LEAST_LEDGER_BYTES = 256 * MIB;

function largeBuckets(retention: Retention): BucketSpec[] {
  return [
    {
      ...small(
        BUCKET.sessions,
        "<key>",
        "session state, the one truth",
        "Never expires, never deleted: ids contain revisions (K1).",
      ),
      ...retention.sessions,
    },
    {
      ...small(
        BUCKET.segments,
        "<key>.<generation>.<from>-<to>.<sha256>",
        "sealed pieces of long histories",
        "Written once; state names the exact key (K12).",
      ),
      ...retention.segments,
    },
    {
      ...small(
        BUCKET.inbound,
        "<key>.<sha256 of the client's id>",
        "inbound deduplication",
        "A channel may repeat a message for a day; an entry takes about 300 bytes.",
      ),
      ttlMs: 24 * HOUR_MS,
      ...retention.inbound,
    },
    {
      ...small(
        BUCKET.deliveries,
        "<key>.<reply id>",
        "the delivery ledger",
        "Kept longer than OUTBOX keeps the reply it speaks of; has room for a record of every reply that OUTBOX has room for.",
      ),
      ttlMs: retention.outbox.maxAgeMs + 24 * HOUR_MS,
      rollsUp: true,
      maxBytes: Math.max(LEAST_LEDGER_BYTES, LEDGER_PER_OUTBOX * retention.outbox.maxBytes),
    },
  ];
}
