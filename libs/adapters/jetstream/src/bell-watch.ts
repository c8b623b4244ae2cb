import { setTimeout as delay } from "node:timers/promises";
import { JetStreamApiCodes, jetstreamManager } from "@nats-io/jetstream";
import { SESSION_BELLS, STREAM } from "@troupe/contracts";
import { type Bus, wireOf } from "./bus.js";
import { EXPIRES_MS } from "./consumer-pull.js";
import { hasCode } from "./provision-consumer.js";

/** How the doorbells of sessions are served. */
export interface BellService {
  /** Whether a process that is alive takes bells. */
  readonly served: boolean;
  /** Bells delivered and not settled yet. */
  readonly inHand: number;
  /** Bells that nobody has got yet. */
  readonly waiting: number;
}

/** After a halted process's last request is over, a live one has asked anew: its requests stand end to end. */
const OVER_MS = EXPIRES_MS + 200;
const LOOK_MS = 100;
/** For one that is so busy that it asks for the next bell only when one is done. */
const LOOKS = 10;

/**
 * Watches for somewhat longer than a request for bells stands: a process that is halted keeps its connection, and its
 * last request counts until its end. Takes two seconds and disturbs nobody.
 *
 * @returns undefined when the consumer or its stream has not been made
 */
export async function watchBells(bus: Bus): Promise<BellService | undefined> {
  if ((await look(bus)) === undefined) return undefined;
  await delay(OVER_MS);
  const first = await look(bus);
  let now = first;
  for (let left = LOOKS; left > 0 && now !== undefined; left -= 1) {
    const { inHand, waiting } = now;
    if (now.pulls > 0 || now.deliveries !== first?.deliveries) return { served: true, inHand, waiting };
    await delay(LOOK_MS);
    now = await look(bus);
  }
  return now && { served: false, inHand: now.inHand, waiting: now.waiting };
}

async function look(bus: Bus) {
  const { consumers } = await jetstreamManager(wireOf(bus).nc, { checkAPI: false });
  try {
    const info = await consumers.info(STREAM.mail, SESSION_BELLS);
    return {
      pulls: info.num_waiting,
      deliveries: info.delivered.consumer_seq,
      inHand: info.num_ack_pending,
      waiting: info.num_pending,
    };
  } catch (cause) {
    if (hasCode(cause, [JetStreamApiCodes.ConsumerNotFound, JetStreamApiCodes.StreamNotFound])) return undefined;
    throw cause;
  }
}
