import { BUCKET, type SessionKey } from "@troupe/contracts";
import { bucketStream, entrySubject } from "./bucket.js";
import { type Bus, wireOf } from "./bus.js";
import { readNewest, replaceIfUnchanged } from "./compare-and-set.js";
import { purge } from "./purge.js";
import { fullOr } from "./stream-full.js";

/** Where a reply's record lies. */
export interface DeliveryPlace {
  readonly key: SessionKey;
  /** The reply's id: a token. */
  readonly id: string;
}

export interface StoredDelivery {
  readonly revision: number;
  /** JSON of a `DeliveryRecord`. */
  readonly text: string;
}

/**
 * The delivery ledger. Every write names the revision it replaces. All of it rejects when the server cannot be reached;
 * then a write may have been carried out or not. With `StreamFull` a write was not.
 */
export interface DeliveryLedger {
  /** From the leader: nothing that has been written is missing. */
  read(place: DeliveryPlace): Promise<StoredDelivery | null>;
  /** `revision` 0: there must be no record yet. The new revision, or null when the record is another one. */
  write(place: DeliveryPlace, text: string, revision: number): Promise<number | null>;
  /** Leaves nothing of it. */
  remove(place: DeliveryPlace): Promise<void>;
}

export function deliveryLedger(bus: Bus): DeliveryLedger {
  const wire = wireOf(bus);
  const subjectOf = ({ key, id }: DeliveryPlace): string => entrySubject(BUCKET.deliveries, `${key}.${id}`);
  return {
    read: (place) => readNewest(wire, bucketStream(BUCKET.deliveries), subjectOf(place)),
    write: async (place, text, revision) => {
      try {
        return await replaceIfUnchanged(wire, { subject: subjectOf(place), text, revision });
      } catch (cause) {
        throw fullOr(cause, BUCKET.deliveries);
      }
    },
    remove: async (place) => {
      await purge(wire, bucketStream(BUCKET.deliveries), subjectOf(place));
    },
  };
}
