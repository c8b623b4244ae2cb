import { DELIVERY_ACK_WAIT_MS } from "@troupe/contracts";
import type { OutboxBell } from "@troupe/jetstream";
import type { DeliveryClock } from "./delivery-clock.js";

/** Well before half of the time after which a bell rings elsewhere. */
export const KEEP_ALIVE_MS = 1_000;
/** A process that has been stopped for longer holds itself for replaced, before the server does. */
export const LAPSE_MS = DELIVERY_ACK_WAIT_MS - 2_000;

/**
 * Keeps the bells that this process holds from ringing elsewhere.
 *
 * B1 A bell that was not kept alive in time may be another process's: after such a gap all that are held are let go,
 *    and nobody acts on them any more. Judged by the monotonic clock, at every look.
 * B2 What arrives right after a gap may have lain in the socket all the time: it is left to ring again.
 */
export class BellKeeper {
  readonly #clock: DeliveryClock;
  readonly #held = new Set<OutboxBell>();
  readonly #onLapse: () => void;
  readonly #stop: () => void;
  /** When everything that is held was last kept alive. */
  #aliveAt: number;
  #lapsedAt = Number.NEGATIVE_INFINITY;
  #era = 0;

  constructor(clock: DeliveryClock, onLapse: () => void) {
    this.#clock = clock;
    this.#onLapse = onLapse;
    this.#aliveAt = clock.monotonic();
    this.#stop = clock.every(KEEP_ALIVE_MS, () => this.#keep());
  }

  /** Changes when bells have been let go: what was begun in an earlier era is no longer ours. */
  get era(): number {
    this.#look();
    return this.#era;
  }

  /** False: it is not to be acted on. */
  hold(bell: OutboxBell): boolean {
    this.#look();
    if (this.#clock.monotonic() - this.#lapsedAt < KEEP_ALIVE_MS) return false;
    this.#held.add(bell);
    return true;
  }

  /** How many are held. */
  get count(): number {
    return this.#held.size;
  }

  ack(bell: OutboxBell): void {
    if (this.#held.delete(bell)) bell.ack();
  }

  /** It is to ring again after a time, here or elsewhere. */
  nak(bell: OutboxBell, delayMs: number): void {
    if (this.#held.delete(bell)) bell.nak(delayMs);
  }

  /** Whether they are still ours is no longer known: the connection was lost. */
  lapse(): void {
    this.#letGo();
  }

  /** All that are held ring elsewhere soon. */
  stop(): void {
    this.#stop();
    this.#letGo();
  }

  #keep(): void {
    this.#look();
    for (const bell of this.#held) bell.working();
    this.#aliveAt = this.#clock.monotonic();
  }

  #look(): void {
    const now = this.#clock.monotonic();
    if (now - this.#aliveAt <= LAPSE_MS) return;
    this.#aliveAt = now;
    this.#lapsedAt = now;
    this.#letGo();
  }

  #letGo(): void {
    this.#held.clear();
    this.#era += 1;
    this.#onLapse();
  }
}
