import { createInbox, errors, type Msg, type MsgHdrs, type NatsConnection } from "@nats-io/transport-node";
import { WireError, type WireErrorKind } from "./wire-error.js";

/**
 * Requests and their answers, over one subscription for the whole process.
 *
 * The client's own `request` answers one message only, and its batched direct get subscribes anew
 * for each call. Here an answer may be a batch, all requests under way end at once when the
 * connection is lost, and one timer watches all deadlines.
 */
interface Waiting {
  readonly subject: string;
  readonly deadline: number;
  readonly got: Msg[];
  /** A batch ends with a status message; anything else is answered by one message. */
  readonly batch: boolean;
  readonly resolve: (messages: Msg[]) => void;
  readonly reject: (error: WireError) => void;
}

export interface Question {
  readonly subject: string;
  readonly payload: string;
  readonly headers?: MsgHdrs | undefined;
  readonly batch?: boolean;
}

/** How often deadlines are looked at; an answer may be awaited this much longer than asked for. */
const SWEEP_MS = 100;
const NO_RESPONDERS = 503;

export class ReplyBox {
  readonly #nc: NatsConnection;
  readonly #inbox = createInbox();
  readonly #waiting = new Map<string, Waiting>();
  #count = 0;
  #sweep: NodeJS.Timeout | undefined;

  constructor(nc: NatsConnection) {
    this.#nc = nc;
    nc.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error) this.failAll("forbidden");
        else this.#take(message);
      },
    });
  }

  ask(question: Question, timeoutMs: number): Promise<Msg[]> {
    return new Promise((resolve, reject) => {
      const { subject, payload, headers } = question;
      const reply = `${this.#inbox}.${(++this.#count).toString(36)}`;
      try {
        this.#nc.publish(subject, payload, headers ? { reply, headers } : { reply });
      } catch (cause) {
        reject(new WireError(kindOfThrow(cause), subject));
        return;
      }
      const deadline = performance.now() + timeoutMs;
      this.#waiting.set(reply, { subject, deadline, got: [], batch: question.batch === true, resolve, reject });
      this.#sweep ??= setInterval(() => this.#expire(), SWEEP_MS).unref();
    });
  }

  /** Ends every request under way: their answers will never come. */
  failAll(kind: WireErrorKind): void {
    this.#fail(kind, () => true);
  }

  /** Ends the requests to a subject that the server does not let us publish to. */
  forbid(subject: string): void {
    this.#fail("forbidden", (waiting) => waiting.subject === subject);
  }

  #fail(kind: WireErrorKind, which: (waiting: Waiting) => boolean): void {
    for (const [reply, waiting] of this.#waiting) {
      if (!which(waiting)) continue;
      this.#waiting.delete(reply);
      waiting.reject(new WireError(kind, waiting.subject));
    }
    this.#restIfIdle();
  }

  #take(message: Msg): void {
    const waiting = this.#waiting.get(message.subject);
    if (waiting === undefined) return;
    const status = message.headers?.code ?? 0;
    if (status === NO_RESPONDERS && message.data.length === 0) {
      this.#waiting.delete(message.subject);
      waiting.reject(new WireError("no-responders", waiting.subject));
      return;
    }
    waiting.got.push(message);
    if (waiting.batch && status === 0) return;
    this.#waiting.delete(message.subject);
    waiting.resolve(waiting.got);
  }

  #expire(): void {
    const now = performance.now();
    this.#fail("timeout", (waiting) => waiting.deadline <= now);
  }

  #restIfIdle(): void {
    if (this.#waiting.size > 0) return;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }
}

function kindOfThrow(cause: unknown): WireErrorKind {
  if (cause instanceof errors.InvalidArgumentError) return "too-large";
  if (cause instanceof errors.ClosedConnectionError || cause instanceof errors.DrainingConnectionError) return "closed";
  return "disconnected";
}
