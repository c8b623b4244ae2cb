import type { Msg } from "@nats-io/transport-node";
import { ORIGINS, parseMailSubject } from "@troupe/contracts";
import type { Bell, MailItem } from "@troupe/kernel";
import { bellNumber } from "./bell-number.js";
import { textOf, type Wire } from "./wire.js";

/**
 * One delivery of a doorbell (K7). Every answer goes to the delivery's ack subject, without
 * confirmation: a lost one only means that the bell rings again.
 */
export class DeliveredBell implements Bell {
  readonly key: string;
  readonly item: MailItem;
  readonly redelivered: boolean;
  readonly ackSubject: string;
  readonly #wire: Wire;
  #onDone: (() => void) | undefined;
  #acked = false;

  constructor(wire: Wire, delivery: Delivery, onDone?: () => void) {
    this.key = delivery.key;
    this.item = delivery.item;
    this.redelivered = delivery.redelivered;
    this.ackSubject = delivery.ackSubject;
    this.#wire = wire;
    this.#onDone = onDone;
  }

  ack(): void {
    if (!this.#acked) this.#wire.tell(this.ackSubject, "+ACK");
    this.#acked = true;
    this.handOver();
  }

  nak(delayMs: number): void {
    if (!this.#acked) this.#wire.tell(this.ackSubject, nakText(delayMs));
    this.handOver();
  }

  working(): void {
    if (!this.#acked) this.#wire.tell(this.ackSubject, "+WPI");
  }

  /** It is no longer this process that answers for the bell. */
  handOver(): void {
    const done = this.#onDone;
    this.#onDone = undefined;
    done?.();
  }
}

export interface Delivery {
  readonly key: string;
  readonly item: MailItem;
  readonly redelivered: boolean;
  readonly ackSubject: string;
}

/** Reads a message delivered by a consumer; undefined when it is none. */
export function deliveryOf(message: Msg): Delivery | undefined {
  const ackSubject = message.reply ?? "";
  const info = ackInfo(ackSubject);
  if (info === undefined) return undefined;
  const { key, origin } = addressOf(message.subject);
  return {
    key,
    item: { seq: bellNumber(info), origin, at: info.at, text: textOf(message) },
    redelivered: info.deliveries > 1,
    ackSubject,
  };
}

/** A nak with a delay in nanoseconds; without one it is rung again at once. */
export function nakText(delayMs: number): string {
  return delayMs > 0 ? `-NAK {"delay":${Math.round(delayMs * 1e6)}}` : "-NAK";
}

export interface AckInfo {
  readonly stream: string;
  readonly seq: number;
  /** In the order of this consumer's deliveries. */
  readonly consumerSeq: number;
  readonly at: number;
  readonly deliveries: number;
}

/**
 * What an ack subject says, in either of its forms: `$JS.ACK.<stream>.<consumer>.<deliveries>.<seq>.<consumer
 * seq>.<nanoseconds>.<pending>`, or with domain and account before the stream and a token at the end.
 */
export function ackInfo(ackSubject: string): AckInfo | undefined {
  const tokens = ackSubject.split(".");
  if (tokens[0] !== "$JS" || tokens[1] !== "ACK" || tokens.length < 9) return undefined;
  const [stream, , deliveries, seq, consumerSeq, nanos] = tokens.slice(tokens.length === 9 ? 2 : 4);
  if (stream === undefined || nanos === undefined) return undefined;
  return {
    stream,
    deliveries: Number(deliveries),
    seq: Number(seq),
    consumerSeq: Number(consumerSeq),
    // Cut as text: nanoseconds are beyond what a number holds exactly.
    at: Number(nanos.slice(0, -6)),
  };
}

/**
 * Whose bell it is. Mail whose subject does not parse still has to reach somebody who dead-letters
 * it: it goes to the key that its subject begins with.
 */
function addressOf(subject: string): { readonly key: string; readonly origin: MailItem["origin"] } {
  const address = parseMailSubject(subject);
  if (address) return address;
  const [, , channel = "unknown", conversation = "unknown", last] = subject.split(".");
  return { key: `${channel}.${conversation}`, origin: ORIGINS.find((origin) => origin === last) ?? "work" };
}
