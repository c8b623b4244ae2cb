import { STREAM } from "./topology.js";
import type { ConsumerSpec } from "./topology-spec.js";

/**
 * A reply whose sender died is delivered again after this, and the channel's next process takes over. The sender says
 * `working` well before half of it, and holds itself for replaced before all of it has passed.
 */
export const DELIVERY_ACK_WAIT_MS = 6_000;

/** The consumer that a channel's gateways take replies from; they make it when they start. */
export const deliveryConsumer = (channel: string): ConsumerSpec => ({
  stream: STREAM.outbox,
  name: `deliveries-${channel}`,
  filter: `outbox.${channel}.*`,
  ackWaitMs: DELIVERY_ACK_WAIT_MS,
  maxDeliver: -1,
  maxAckPending: -1,
  failoverMs: DELIVERY_ACK_WAIT_MS,
  reason:
    "One process at a time speaks for a channel, so that a conversation's replies keep their order; the others stand by. What waits to be sent again holds a pending slot, so a limit would let one person who cannot be reached stop the channel; the process bounds what it takes.",
});
