import { STREAM } from "@troupe/contracts";

/**
 * Doorbells ring in two streams: MAIL, and TIMERS with the `self` mail. To the kernel a bell is one
 * number, so those of TIMERS count from 2^52 on: no stream ever gets there, and numbers stay exact.
 */
const TIMERS_FROM = 2 ** 52;

export interface BellPlace {
  readonly stream: string;
  readonly seq: number;
}

export function bellNumber({ stream, seq }: BellPlace): number {
  return stream === STREAM.timers ? TIMERS_FROM + seq : seq;
}

export function bellPlace(number: number): BellPlace {
  if (number >= TIMERS_FROM) return { stream: STREAM.timers, seq: number - TIMERS_FROM };
  return { stream: STREAM.mail, seq: number };
}
