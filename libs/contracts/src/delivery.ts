import { z } from "zod";
import { Envelope } from "./envelope.js";
import type { OutboxMessage } from "./outbox.js";
import { digestOf, replyIdOf } from "./turn-id.js";

/**
 * What is known of one reply's way to a person. `id` is the reply's.
 *
 * `sending` it may have been sent, and whoever was sending it has not said · `waiting` it has surely not been sent and
 * will be tried again · `confirmed` the channel has taken it · `rejected` the channel will never take it, and nothing
 * was shown · `unsettled` nobody can tell whether it was shown; it is not sent again.
 */
export const DeliveryStatus = z.enum(["sending", "waiting", "confirmed", "rejected", "unsettled"]);
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

/** An entry of the delivery ledger: created before the first send, changed by compare-and-set only. */
export const DeliveryRecord = Envelope.extend({
  /** The reply's sequence in OUTBOX. */
  seq: z.number().int().positive(),
  status: DeliveryStatus,
  /** Sends begun so far. */
  attempt: z.number().int().positive(),
  /** Whoever began the last one: no two claims share it. */
  sender: z.string().min(1),
  at: z.iso.datetime({ precision: 3 }),
  /** The channel's own name for what it shows, if it gave one. */
  receipt: z.string().nullable(),
  /** Why it was not taken, or is not settled. */
  reason: z.string().nullable(),
});
export type DeliveryRecord = z.infer<typeof DeliveryRecord>;

/**
 * The ledger's key for an outbox message: of a final it comes from the turn, so that a turn has one. The same message
 * sent to a conversation that has been erased since begins the same turn anew, in a later generation.
 */
export function deliveryIdOf(message: OutboxMessage): string {
  const id = message.kind === "final" ? replyIdOf(message.final.turn) : `n_${digestOf(message.id).slice(0, 32)}`;
  return `${id}_${message.generation}`;
}
