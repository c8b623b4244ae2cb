import { BUCKET } from "@troupe/contracts";
import { bucketStream, entrySubject } from "./bucket.js";
import { type Bus, wireOf } from "./bus.js";
import { fullOr } from "./stream-full.js";
import { writtenOnce } from "./written-once.js";

/** Sealed pieces of histories: written once, never changed. */
export interface SegmentStore {
  /** Create-only; one that exists is the same, because its name holds its digest. Rejects with `StreamFull` when there is no room. */
  create(name: string, text: string): Promise<void>;
  /** Rejects when there is none. */
  read(name: string): Promise<string>;
}

export function segmentStore(bus: Bus): SegmentStore {
  const store = writtenOnce(wireOf(bus), bucketStream(BUCKET.segments));
  return {
    create: async (name, text) => {
      try {
        await store.create(entrySubject(BUCKET.segments, name), text);
      } catch (cause) {
        throw fullOr(cause, BUCKET.segments);
      }
    },
    read: async (name) => {
      const text = await store.read(entrySubject(BUCKET.segments, name));
      if (text === undefined) throw new Error(`segment ${name} is named by a state and is not there`);
      return text;
    },
  };
}
