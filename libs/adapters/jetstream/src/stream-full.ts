import { BLOBS, BUCKET } from "@troupe/contracts";
import { settingOf } from "./store-setting.js";
import { ApiError } from "./wire-error.js";

/** A stream, bucket or object store takes no more: nothing was accepted. The message says what raises its limit. */
export class StreamFull extends Error {
  override readonly name = "StreamFull";
  readonly retryAfterMs: number = 5_000;
  /** Its name in the topology. */
  readonly store: string;

  constructor(store: string, options?: ErrorOptions) {
    super(
      `${NAMES[store] ?? store} is full: raise ${settingOf(store)}, or the server's max_file_store if that is used up`,
      options,
    );
    this.store = store;
  }
}

/** For a person who does not know what it is for. */
const NAMES: Readonly<Record<string, string>> = {
  [BLOBS]: `the store of large texts (${BLOBS})`,
  [BUCKET.sessions]: `the bucket of session states (${BUCKET.sessions})`,
  [BUCKET.segments]: `the bucket of older history (${BUCKET.segments})`,
  [BUCKET.inbound]: `the record of what came in (${BUCKET.inbound})`,
  [BUCKET.deliveries]: `the delivery ledger (${BUCKET.deliveries})`,
};

/** A store that is full, by its own limits, the account's or the disk's. */
const FULL: readonly number[] = [10_002, 10_023, 10_028, 10_047, 10_077];

/** Whether the server said that a store has no room; never when its answer is missing. */
export function isFull(cause: unknown): boolean {
  return cause instanceof ApiError && FULL.includes(cause.code);
}

/** What to throw when a write to a store came to nothing: that it is full, or the cause itself. */
export function fullOr(cause: unknown, store: string): unknown {
  return isFull(cause) ? new StreamFull(store, { cause }) : cause;
}
