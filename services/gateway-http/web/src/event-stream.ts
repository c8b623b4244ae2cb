import { ApiFailure } from "./api-failure.js";
import { type ChatEvent, readChatEvent } from "./chat-event.js";
import type { GatewayApi } from "./gateway-api.js";
import { RetryPause } from "./retry-pause.js";
import { type SseEvent, SseParser } from "./sse-parser.js";

/** The gateway shows every 15 s that it is there; after twice that the connection is dead, whatever the browser thinks. */
const SILENCE_MS = 35_000;

export interface StreamListener {
  /** Listening has begun, for the first time or again. */
  opened(): void;
  event(event: ChatEvent): void;
  /** The connection is gone and is being tried again. */
  lost(): void;
  /** It is of no use to try again. */
  refused(failure: ApiFailure): void;
}

/** Follows a session's events until it is closed, over any number of connections, from where the last one ended. */
export class EventStream {
  readonly #api: GatewayApi;
  readonly #session: string;
  readonly #listener: StreamListener;
  readonly #closed = new AbortController();
  #connection = new AbortController();
  #wanted = true;
  #wake: () => void = () => {};
  #lastEventId: string | null = null;

  constructor(api: GatewayApi, session: string, listener: StreamListener) {
    this.#api = api;
    this.#session = session;
    this.#listener = listener;
    void this.#run();
  }

  /** Whether to hold a connection. Without one nothing is told; with the next one it goes on where it was. */
  want(wanted: boolean): void {
    if (wanted === this.#wanted) return;
    this.#wanted = wanted;
    if (wanted) this.#wake();
    else this.#connection.abort();
  }

  close(): void {
    this.#closed.abort();
    this.#wake();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closed;
    const pause = new RetryPause();
    while (!signal.aborted) {
      if (!this.#wanted) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      let retryAfterMs: number | null = null;
      try {
        await this.#follow(pause);
      } catch (error) {
        if (error instanceof ApiFailure) {
          if (!error.passing && !signal.aborted) return this.#listener.refused(error);
          retryAfterMs = error.retryAfterMs;
        }
      }
      if (signal.aborted || !this.#wanted) continue;
      this.#listener.lost();
      await pause.wait(signal, retryAfterMs);
    }
  }

  /** One connection, to its end. */
  async #follow(pause: RetryPause): Promise<void> {
    const silence = new Watchdog(SILENCE_MS);
    this.#connection = new AbortController();
    const signal = AbortSignal.any([this.#closed.signal, this.#connection.signal, silence.signal]);
    try {
      const response = await this.#api.events(this.#session, this.#lastEventId, signal);
      if (response.body === null) return;
      pause.succeeded();
      this.#listener.opened();
      const parser = new SseParser((event) => this.#take(event));
      parser.lastEventId = this.#lastEventId;
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { value, done } = await reader.read();
        if (done || signal.aborted) return;
        silence.fed();
        parser.push(value);
        this.#lastEventId = parser.lastEventId;
      }
    } finally {
      silence.stop();
    }
  }

  #take({ event, data }: SseEvent): void {
    let read: ChatEvent | null;
    try {
      read = readChatEvent(event, data);
    } catch (error) {
      // One event that cannot be read must not take the others away.
      console.warn("an event could not be read", error);
      return;
    }
    if (read !== null) this.#listener.event(read);
  }
}

/** Gives up when nothing happens for too long. */
class Watchdog {
  readonly #abort = new AbortController();
  readonly #limitMs: number;
  #timer: number;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
    this.#timer = setTimeout(() => this.#abort.abort(), limitMs);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  fed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#abort.abort(), this.#limitMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
