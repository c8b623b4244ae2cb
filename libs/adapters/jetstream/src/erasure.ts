import { BUCKET, deadFilter, outboxSubject, type SessionKey, STREAM } from "@troupe/contracts";
import { bucketStream, entrySubject } from "./bucket.js";
import { type Bus, wireOf } from "./bus.js";
import { purge } from "./purge.js";
import { removeOlderGenerations, removeUnnamed } from "./stored-generations.js";

/**
 * Removes what a conversation has left outside of its state: events of the outbox, records of what came in and of what
 * was delivered, dead letters, which hold what people said, sealed pieces of its log and large texts. The state itself is
 * erased by a commit of its actor, before this; what has been stored since is of the generation that begins with that
 * commit, and stays.
 *
 * May be repeated, by anybody and at the same time. Resolves to whether there was anything, and rejects when some of it
 * may still be there.
 */
export async function forget(bus: Bus, key: SessionKey): Promise<boolean> {
  const wire = wireOf(bus);
  // First, so that whoever looks before he sends a reply finds it gone, and records nothing behind our back.
  const replies = await purge(wire, STREAM.outbox, outboxSubject(key));
  const removed = await Promise.all([
    purge(wire, STREAM.dead, deadFilter(undefined, key)),
    purge(wire, bucketStream(BUCKET.inbound), entrySubject(BUCKET.inbound, `${key}.>`)),
    purge(wire, bucketStream(BUCKET.deliveries), entrySubject(BUCKET.deliveries, `${key}.>`)),
    removeOlderGenerations(wire, key),
  ]);
  return replies > 0 || removed.some((count) => count > 0);
}

/**
 * Removes sealed pieces and large texts of generations that are over, of all conversations: what a reset has left,
 * except for texts of replies that may still be asked for, and what a process stored that did not know yet that a
 * conversation had been reset or erased. Resolves to the number of
 * messages removed. May run at any time, also several times at once.
 */
export function sweepOrphans(bus: Bus): Promise<number> {
  return removeUnnamed(wireOf(bus));
}
