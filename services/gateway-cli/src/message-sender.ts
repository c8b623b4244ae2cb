import type { Accepted } from "./gateway-answer.js";
import type { GatewayClient } from "./gateway-client.js";
import type { GatewayFailure } from "./gateway-failure.js";
import { persist } from "./persistence.js";

const SEND_FOR_MS = 120_000;

export interface OutgoingMessage {
  /** Made once: it makes a message that is sent again the same message. */
  readonly id: string;
  readonly text: string;
}

/** Sends a session's messages one after the other, each for as long as it may still get through. */
export class MessageSender {
  readonly #client: GatewayClient;
  readonly #session: string;
  readonly #onRetry: (failure: GatewayFailure) => void;
  #abort = new AbortController();
  #last: Promise<unknown> = Promise.resolve();
  #retrying = false;

  constructor(client: GatewayClient, session: string, onRetry: (failure: GatewayFailure) => void) {
    this.#client = client;
    this.#session = session;
    this.#onRetry = onRetry;
  }

  /** @throws GatewayFailure when it is refused or time is up; whatever {@link giveUp} says once it was called */
  async send(message: OutgoingMessage): Promise<Accepted> {
    const sent = this.#last.then(() => this.#deliver(message));
    this.#last = sent.catch(() => undefined);
    return sent;
  }

  /** Resolves when nothing is on its way any more. What does not get through within the patience is given up. */
  async flush(patienceMs: number): Promise<void> {
    const giveUp = (): void => this.giveUp("given up; it may have arrived all the same");
    const timer = setTimeout(giveUp, this.#retrying ? 0 : patienceMs);
    await this.#last;
    clearTimeout(timer);
  }

  giveUp(reason: string): void {
    this.#abort.abort(new Error(reason));
    this.#abort = new AbortController();
  }

  async #deliver(message: OutgoingMessage): Promise<Accepted> {
    const { signal } = this.#abort;
    const onRetry = (failure: GatewayFailure): void => {
      this.#retrying = true;
      this.#onRetry(failure);
    };
    try {
      const attempt = (): Promise<Accepted> => this.#client.send(this.#session, message, { signal });
      return await persist(attempt, { signal, forMs: SEND_FOR_MS, onRetry });
    } finally {
      this.#retrying = false;
    }
  }
}
