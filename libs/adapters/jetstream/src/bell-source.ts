import { type ActorKind, SESSION_BELLS, SESSION_TIMER_BELLS } from "@troupe/contracts";
import type { Bell } from "@troupe/kernel";
import { type Bus, wireOf } from "./bus.js";
import { consumerOf, ConsumerSource } from "./consumer-source.js";
import { DeliveredBell, deliveryOf } from "./delivered-bell.js";

export interface BellOptions {
  readonly actor: ActorKind;
  /** Bells delivered to `onBell` and neither answered nor handed over; never more than this. At least 2. */
  readonly maxInFlight: number;
  readonly onBell: (bell: Bell) => void;
  /** One line for the log: something is not as it should be, and is being mended. */
  readonly onTrouble: (line: string) => void;
}

/** The consumers that an actor's bells come from: on MAIL, and on TIMERS. */
const CONSUMERS: Readonly<Record<ActorKind, { readonly mail: string; readonly timers: string }>> = {
  session: { mail: SESSION_BELLS, timers: SESSION_TIMER_BELLS },
};

/** Timers get this part of the room, so that neither kind can use up the other's. */
const TIMERS_SHARE = 1 / 4;

/** Before a bell that was not taken rings again. */
const NOT_TAKEN_MS = 5_000;

/**
 * Rings the doorbells of one kind of actor (K7). The consumers are shared by all processes; each pulls
 * only what it has room for. A consumer that is lost or goes silent is pulled from anew, and created
 * again when it is gone.
 */
export async function ringBells(bus: Bus, options: BellOptions): Promise<{ stop(): Promise<void> }> {
  const { maxInFlight, actor } = options;
  if (!(maxInFlight >= 2)) throw new RangeError("maxInFlight must be at least 2");
  const forTimers = Math.max(1, Math.floor(maxInFlight * TIMERS_SHARE));
  const wire = wireOf(bus);
  const source = (name: string, capacity: number): ConsumerSource<DeliveredBell> =>
    new ConsumerSource(wire, {
      consumer: consumerOf(name),
      capacity,
      read: (message, onDone) => {
        const delivery = deliveryOf(message);
        return delivery && new DeliveredBell(wire, delivery, onDone);
      },
      onDelivery: (bell) => ring(bell, options),
      onTrouble: (reason) => options.onTrouble(`doorbells (${name}): ${reason}`),
    });
  const sources = [source(CONSUMERS[actor].mail, maxInFlight - forTimers), source(CONSUMERS[actor].timers, forTimers)];
  await Promise.all(sources.map((one) => one.open()));
  return {
    stop: async () => {
      await Promise.all(sources.map((one) => one.stop()));
    },
  };
}

function ring(bell: Bell, { onBell, onTrouble }: BellOptions): void {
  try {
    onBell(bell);
  } catch (cause) {
    onTrouble(`a doorbell of ${bell.key} was not taken: ${String(cause)}`);
    bell.nak(NOT_TAKEN_MS);
  }
}
