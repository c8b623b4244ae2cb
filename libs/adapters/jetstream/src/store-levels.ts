import { jetstreamManager } from "@nats-io/jetstream";
import { type Bus, wireOf } from "./bus.js";
import { bucketStream } from "./bucket.js";

/** How much lies in a bucket. */
export interface StoreLevel {
  readonly bucket: string;
  readonly bytes: number;
  readonly maxBytes: number;
}

/** The levels of buckets, as their leaders have them now. */
export async function storeLevels(bus: Bus, buckets: readonly string[]): Promise<StoreLevel[]> {
  const jsm = await jetstreamManager(wireOf(bus).nc, { checkAPI: false });
  return Promise.all(
    buckets.map(async (bucket) => {
      const { state, config } = await jsm.streams.info(bucketStream(bucket));
      return { bucket, bytes: state.bytes, maxBytes: config.max_bytes };
    }),
  );
}
