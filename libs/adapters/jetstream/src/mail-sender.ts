import { HEADER, STREAM } from "@troupe/contracts";
import { type Bus, wireOf } from "./bus.js";
import { readFromLeader } from "./stored-message.js";
import { isTransient, publishSurely } from "./stored-publish.js";
import { isFull, StreamFull } from "./stream-full.js";
import { headersOf } from "./wire.js";
import { ApiError, WireError } from "./wire-error.js";

export interface NewMail {
  readonly subject: string;
  /** For deduplication: the same id within the stream's window is stored once. ASCII. */
  readonly id: string;
  readonly body: string;
  /** W3C traceparent. */
  readonly trace?: string;
}

export interface SentMail {
  readonly seq: number;
  /** An earlier message had this id; `seq` is that one's. */
  readonly duplicate: boolean;
}

export interface MailSender {
  /** Rejects with `StreamFull`, `Unavailable` or `TooLarge`; then nothing was accepted, or it is not known (`Unavailable`): send again with the same id. */
  send(mail: NewMail): Promise<SentMail>;
  /** The body of a message that is still in the stream. */
  bodyAt(seq: number): Promise<string | undefined>;
}

/** NATS could not be reached, or had no leader, for all of five seconds. */
export class Unavailable extends Error {
  override readonly name = "Unavailable";
  readonly retryAfterMs: number = 1_000;
}

/** Over the server's `max_payload`: it will never be accepted. */
export class TooLarge extends Error {
  override readonly name = "TooLarge";
  /** Bytes, headers included. */
  readonly limit: number;

  constructor(limit: number, options?: ErrorOptions) {
    super(`the message is larger than the server takes (${limit} bytes)`, options);
    this.limit = limit;
  }
}

const TOO_LARGE: readonly number[] = [10_054];

export function mailSender(bus: Bus): MailSender {
  const wire = wireOf(bus);
  return {
    send: async ({ subject, id, body, trace }) => {
      const headers = headersOf({ [HEADER.msgId]: id, [HEADER.trace]: trace });
      try {
        return await publishSurely(wire, { subject, body, headers });
      } catch (cause) {
        throw refusalOf(cause, bus, STREAM.mail);
      }
    },
    bodyAt: async (seq) => (await readFromLeader(wire, STREAM.mail, { seq }))?.text,
  };
}

/** What to throw when a publish to a stream came to nothing. */
export function refusalOf(cause: unknown, bus: Bus, stream: string): unknown {
  if (cause instanceof WireError && cause.kind === "too-large") return new TooLarge(bus.maxPayload, { cause });
  if (cause instanceof ApiError && TOO_LARGE.includes(cause.code)) return new TooLarge(bus.maxPayload, { cause });
  if (isFull(cause)) return new StreamFull(stream, { cause });
  const closed = cause instanceof WireError && cause.kind === "closed";
  if (closed || isTransient(cause)) return new Unavailable("NATS does not answer", { cause });
  return cause;
}
