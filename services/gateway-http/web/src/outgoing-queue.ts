import type { Accepted } from "./api-answer.js";
import { ApiFailure } from "./api-failure.js";
import type { GatewayApi } from "./gateway-api.js";
import { RetryPause } from "./retry-pause.js";
import type { OutgoingMessage } from "./turn-record.js";

export interface OutgoingListener {
  /** Its state is another one. */
  changed(message: OutgoingMessage): void;
  accepted(message: OutgoingMessage, answer: Accepted): void;
}

/**
 * Sends a session's messages one after the other, each until the gateway has it. A message that is sent again, because
 * nobody knows whether it arrived, keeps its id and so stays one message.
 */
export class OutgoingQueue {
  readonly #api: GatewayApi;
  readonly #session: string;
  readonly #listener: OutgoingListener;
  readonly #closed = new AbortController();
  readonly #waiting: OutgoingMessage[] = [];
  #running = false;

  constructor(api: GatewayApi, session: string, listener: OutgoingListener) {
    this.#api = api;
    this.#session = session;
    this.#listener = listener;
  }

  add(message: OutgoingMessage): void {
    if (this.#waiting.includes(message)) return;
    message.state = "waiting";
    this.#waiting.push(message);
    if (!this.#running) void this.#run();
  }

  close(): void {
    this.#closed.abort();
  }

  async #run(): Promise<void> {
    this.#running = true;
    const { signal } = this.#closed;
    for (let next = this.#waiting[0]; next !== undefined && !signal.aborted; next = this.#waiting[0]) {
      await this.#send(next, signal);
      this.#waiting.shift();
    }
    this.#running = false;
  }

  async #send(message: OutgoingMessage, signal: AbortSignal): Promise<void> {
    const pause = new RetryPause();
    message.state = "sending";
    while (!signal.aborted) {
      try {
        const answer = await this.#api.send(this.#session, message);
        message.state = "sent";
        this.#listener.accepted(message, answer);
        return;
      } catch (error) {
        const passing = error instanceof ApiFailure ? error.passing : false;
        message.state = passing ? "retrying" : "failed";
        message.reason = error instanceof Error ? error.message : "it was refused";
        this.#listener.changed(message);
        if (!passing) return;
        await pause.wait(signal, error instanceof ApiFailure ? error.retryAfterMs : null);
      }
    }
  }
}
