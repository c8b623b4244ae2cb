import { setTimeout as delay } from "node:timers/promises";
import {
  errors,
  headers,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  type Subscription,
} from "@nats-io/transport-node";
import { type Question, ReplyBox } from "./reply-box.js";
import { WireError } from "./wire-error.js";

/** An operation has failed for good after this, whatever the server does. */
export const REQUEST_TIMEOUT_MS = 5_000;

/** What still comes within this time was under way. */
const END_MS = 500;

/** One connection with what all ports need of it. Not part of the public surface: see `Bus`. */
export class Wire {
  readonly nc: NatsConnection;
  #generation = 1;
  #up = true;
  #closed = false;
  #unanswered = 0;
  #isSilent = false;
  readonly #box: ReplyBox;
  #due: NodeJS.Immediate | undefined;
  readonly #soon: { readonly subject: string; readonly payload: string }[] = [];
  readonly #watchers = new Set<(up: boolean, detail: string) => void>();

  constructor(nc: NatsConnection) {
    this.nc = nc;
    this.#box = new ReplyBox(nc);
    void this.#follow();
  }

  get up(): boolean {
    return this.#up && !this.#closed;
  }

  /** Changes when what was learnt about the server's streams may no longer hold. */
  get generation(): number {
    return this.#generation;
  }

  /** A stream behaves as if it were another one. */
  distrust(): void {
    this.#generation += 1;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Tells of every change between connected and not; the result ends that. */
  watch(fn: (up: boolean, detail: string) => void): () => void {
    this.#watchers.add(fn);
    return () => this.#watchers.delete(fn);
  }

  /** One answer to one request. Waits for a lost connection within the time. Rejects with a `WireError`. */
  async ask(question: Question, timeoutMs: number = REQUEST_TIMEOUT_MS): Promise<Msg> {
    const [message] = await this.askMany(question, timeoutMs);
    if (message === undefined) throw new WireError("timeout", question.subject);
    return message;
  }

  /** All answers to one request; the last one of a batch is the status that ended it. */
  async askMany(question: Question, timeoutMs: number = REQUEST_TIMEOUT_MS): Promise<Msg[]> {
    // What is sent while disconnected is dropped by the client at its next dial: wait instead.
    const leftMs = this.up ? timeoutMs : await this.#untilUp(question.subject, timeoutMs);
    this.sendSoon();
    return this.#box.ask(question, leftMs);
  }

  /**
   * Like `tell`, but for what nobody waits for: it leaves together with the next thing that has to go, in the same turn
   * of the event loop. Each write to the socket costs more than what is written.
   */
  tellSoon(subject: string, payload: string): void {
    this.#due ??= setImmediate(() => this.sendSoon());
    this.#soon.push({ subject, payload });
  }

  /** Sends what `tellSoon` has kept; all else that is sent comes behind it. */
  sendSoon(): void {
    if (this.#due === undefined) return;
    clearImmediate(this.#due);
    this.#due = undefined;
    for (const { subject, payload } of this.#soon.splice(0)) this.#send(subject, payload);
  }

  /** Fire and forget: never throws, and what cannot be sent now is lost. */
  tell(subject: string, payload: string, reply?: string): void {
    this.sendSoon();
    this.#send(subject, payload, reply);
  }

  #send(subject: string, payload: string, reply?: string): void {
    try {
      this.nc.publish(subject, payload, reply === undefined ? {} : { reply });
    } catch {
      // Closing, or too large: whoever tells without asking lives with losing it.
    }
  }

  /** Ends a subscription when all that is under way to it has come; a server that says nothing is not waited for. */
  async end(subscription: Subscription): Promise<void> {
    if (!this.up) return subscription.unsubscribe();
    const patience = new AbortController();
    await Promise.race([
      subscription.drain().catch(() => undefined),
      delay(END_MS, undefined, { signal: patience.signal }).catch(() => undefined),
    ]);
    patience.abort();
  }

  /** No request waits any longer: the process is ending. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#box.failAll("closed");
    this.#announce(false, "closed");
    this.#watchers.clear();
  }

  #untilUp(subject: string, timeoutMs: number): Promise<number> {
    if (this.#closed) return Promise.reject(new WireError("closed", subject));
    const startedAt = performance.now();
    return new Promise((resolve, reject) => {
      const end = (then: () => void): void => {
        clearTimeout(timer);
        unwatch();
        then();
      };
      const timer = setTimeout(() => end(() => reject(new WireError("disconnected", subject))), timeoutMs);
      const unwatch = this.watch((up) => {
        if (up) end(() => resolve(Math.max(1, timeoutMs - (performance.now() - startedAt))));
        else if (this.#closed) end(() => reject(new WireError("closed", subject)));
      });
    });
  }

  async #follow(): Promise<void> {
    for await (const status of this.nc.status()) {
      if (status.type === "ping") this.#unanswered = status.pendingPings - 1;
      // Comes just before the client gives a connection up; after an error that the server tells, too.
      else if (status.type === "staleConnection") this.#isSilent = this.#unanswered > 0;
      else if (status.type === "disconnect") this.#down(status.server);
      else if (status.type === "reconnect") this.#back(status.server);
      else if (status.type === "error" && status.error instanceof errors.PermissionViolationError) {
        if (status.error.operation === "publish") this.#box.forbid(status.error.subject);
      }
    }
    this.close();
  }

  #down(server: string): void {
    const isSilent = this.#isSilent;
    this.#isSilent = false;
    this.#unanswered = 0;
    if (!this.#up) return;
    this.#up = false;
    this.#box.failAll("disconnected");
    this.#announce(false, isSilent ? `NATS at ${server} does not answer` : `lost ${server}`);
  }

  #back(server: string): void {
    this.#up = true;
    this.distrust();
    this.#announce(true, server);
  }

  #announce(up: boolean, detail: string): void {
    for (const watcher of this.#watchers) watcher(up, detail);
  }
}

/** Headers of the given names; those without a value are left out. */
export function headersOf(values: Readonly<Record<string, string | undefined>>): MsgHdrs {
  const result = headers();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) result.set(name, value);
  return result;
}

/** The body as text. Bytes that are no UTF-8 become U+FFFD: what is wrong with it is for the reader to say. */
export function textOf(message: Msg): string {
  const { buffer, byteOffset, byteLength } = message.data;
  return Buffer.from(buffer, byteOffset, byteLength).toString("utf8");
}
