import { DiscardPolicy, RetentionPolicy, StorageType, type StreamConfig } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import type { BucketSpec, ObjectStoreSpec, StreamSpec } from "@troupe/contracts";
import { bucketStream } from "./bucket.js";

/** What is declared, in the server's terms. Only fields named here are ever compared or changed. */
export type DeclaredStream = Partial<StreamConfig> & Pick<StreamConfig, "name" | "subjects" | "max_bytes">;

/** The server's word for it; it answers with this whatever negative number it was given. */
const UNLIMITED = -1;

export function streamConfig(spec: StreamSpec): DeclaredStream {
  return {
    name: spec.name,
    subjects: [...spec.subjects],
    retention: spec.retention === "workqueue" ? RetentionPolicy.Workqueue : RetentionPolicy.Limits,
    storage: StorageType.File,
    discard: spec.discard === "new" ? DiscardPolicy.New : DiscardPolicy.Old,
    max_bytes: spec.maxBytes > 0 ? spec.maxBytes : UNLIMITED,
    max_age: nanos(spec.maxAgeMs),
    allow_direct: true,
    duplicate_window: nanos(spec.duplicateWindowMs),
    ...(spec.onePerSubject ? { max_msgs_per_subject: 1, discard_new_per_subject: true } : {}),
    ...(spec.schedules ? { allow_msg_schedules: true, allow_msg_ttl: true } : {}),
  };
}

/**
 * History of one: a revision is replaced by the next, by the server or by a roll-up. `deny_delete`: an entry only goes by
 * its age or by a purge.
 */
export function bucketConfig(spec: BucketSpec): DeclaredStream {
  return {
    name: bucketStream(spec.name),
    subjects: [`$KV.${spec.name}.>`],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    max_msgs_per_subject: spec.rollsUp === true ? UNLIMITED : 1,
    max_bytes: spec.maxBytes,
    max_age: nanos(spec.ttlMs),
    allow_direct: true,
    allow_rollup_hdrs: true,
    deny_delete: true,
  };
}

export function objectStoreConfig(spec: ObjectStoreSpec): DeclaredStream {
  return {
    name: `OBJ_${spec.name}`,
    subjects: [`$O.${spec.name}.C.>`, `$O.${spec.name}.M.>`],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    max_bytes: spec.maxBytes,
    allow_direct: true,
    allow_rollup_hdrs: true,
  };
}
