import { type ActorKind, mailSubject, type SessionKey, STREAM } from "@troupe/contracts";
import type { MailPort } from "@troupe/kernel";
import { bellPlace } from "./bell-number.js";
import { type Bus, wireOf } from "./bus.js";
import { readBatch, readFromLeader } from "./stored-message.js";
import { streamCreation } from "./stream-creation.js";

/**
 * The mailbox: the log of one subject in the work queue.
 *
 * K2 Read by its literal subject, in one round trip. A replica that lags gives a prefix, never a gap.
 * K3 Whether a bell is gone is asked of the leader, for "gone" proves that its effects were published.
 */
export function mailPort(bus: Bus, actor: ActorKind): MailPort {
  const wire = wireOf(bus);
  const created = [STREAM.mail, STREAM.timers].map((stream) => streamCreation(wire, stream));
  return {
    identity: async () => (await Promise.all(created.map((ask) => ask()))).join("/"),
    read: async (key, origin, from, limit) => {
      const subject = mailSubject(actor, key as SessionKey, origin);
      const { messages } = await readBatch(wire, { stream: STREAM.mail, subject, from, limit });
      return messages.map(({ seq, at, text }) => ({ seq, origin, at, text }));
    },
    waiting: async (number) => {
      const { stream, seq } = bellPlace(number);
      return (await readFromLeader(wire, stream, { seq })) !== null;
    },
  };
}
