import type { StreamConfig } from "@nats-io/jetstream";
import { millis } from "@nats-io/transport-node";
import type { DeclaredStream } from "./stream-config.js";
import { type Limit, ownSetting } from "./store-setting.js";

/** A limit of a stream or bucket that was there before and is now another one, for every process on this server. */
export interface LimitChange {
  /** `retention.outbox.maxBytes`; for a limit that is no setting of its own `bucket deliveries maxBytes`. */
  readonly setting: string;
  /** In bytes or milliseconds, as the setting is. */
  readonly from: number | "unlimited";
  readonly to: number | "unlimited";
}

/** A stream, bucket or object store as this process wants it. */
export interface Declared {
  readonly config: DeclaredStream;
  /** For a person. */
  readonly what: string;
  /** Its name in the topology. */
  readonly store: string;
}

/** What an update from the present configuration to the declared one does to the limits; empty if it leaves them. */
export function limitChanges(found: StreamConfig, { config, what, store }: Declared): LimitChange[] {
  const limits: [Limit, LimitChange["from"], LimitChange["to"]][] = [
    ["maxBytes", limited(found.max_bytes), limited(config.max_bytes)],
    ["maxAgeMs", limited(millis(found.max_age)), limited(millis(config.max_age ?? found.max_age))],
  ];
  return limits
    .filter(([, from, to]) => from !== to)
    .map(([limit, from, to]) => ({ setting: ownSetting(store, limit) ?? `${what} ${limit}`, from, to }));
}

/** The server's words for no limit are 0 and any negative number. */
function limited(value: number): number | "unlimited" {
  return value > 0 ? value : "unlimited";
}

/** `retention.outbox.maxBytes: 536870912 → 1048576` */
export function changeText({ setting, from, to }: LimitChange): string {
  return `${setting}: ${from} → ${to}`;
}
