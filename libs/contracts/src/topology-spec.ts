/**
 * The shape of the topology: every stream, consumer, bucket and object store, with its limits and the reason for them.
 * Durations in milliseconds, sizes in bytes.
 */
export interface StreamSpec {
  readonly name: string;
  readonly subjects: readonly string[];
  readonly retention: "workqueue" | "limits";
  /** `new`: refuse what does not fit; `old`: drop the oldest. */
  readonly discard: "new" | "old";
  /** 0: messages do not expire. */
  readonly maxAgeMs: number;
  /** -1: without limit. */
  readonly maxBytes: number;
  /** Refuse a second message per subject while one waits. */
  readonly onePerSubject: boolean;
  readonly schedules: boolean;
  readonly duplicateWindowMs: number;
  readonly holds: string;
  readonly reason: string;
}

export interface ConsumerSpec {
  readonly stream: string;
  readonly name: string;
  readonly filter: string;
  readonly ackWaitMs: number;
  /** -1: without limit. */
  readonly maxDeliver: number;
  readonly maxAckPending: number;
  /**
   * Set: the server serves one of the pulling processes only, and another one when that has not pulled for so long.
   */
  readonly failoverMs?: number;
  readonly reason: string;
}

export interface BucketSpec {
  readonly name: string;
  readonly key: string;
  /** 0: entries do not expire. */
  readonly ttlMs: number;
  readonly maxBytes: number;
  /**
   * For entries that are both replaced and removed: each write removes the one before it itself. What the server's own
   * limit on versions has removed comes back when the newest version is removed and the server killed soon after.
   */
  readonly rollsUp?: true;
  readonly holds: string;
  readonly reason: string;
}

export interface ObjectStoreSpec {
  readonly name: string;
  readonly maxBytes: number;
  readonly holds: string;
  readonly reason: string;
}

export interface Topology {
  readonly streams: readonly StreamSpec[];
  readonly consumers: readonly ConsumerSpec[];
  readonly buckets: readonly BucketSpec[];
  readonly objectStores: readonly ObjectStoreSpec[];
}
