/** How often an idle stream shows that it is alive: below the 30 s after which proxies begin to cut. */
export const HEARTBEAT_MS = 15_000;

/** A request that stays open until something happens elsewhere. */
export interface LongRequest {
  /** Called every {@link HEARTBEAT_MS}. */
  heartbeat?(): void;
  /** The process is about to end: answer now with what there is. */
  wrapUp(): void;
}

/** All requests that are waiting or streaming: one timer for all heartbeats, and one way to end them. */
export class LongRequests {
  readonly #open = new Set<LongRequest>();
  #timer: NodeJS.Timeout | undefined;
  #closing = false;

  get size(): number {
    return this.#open.size;
  }

  get closing(): boolean {
    return this.#closing;
  }

  /** Returns how to take it out again. A request added while closing is asked to end at once. */
  add(request: LongRequest): () => void {
    this.#open.add(request);
    this.#timer ??= setInterval(() => this.#beat(), HEARTBEAT_MS);
    if (this.#closing) queueMicrotask(() => request.wrapUp());
    return () => {
      this.#open.delete(request);
      if (this.#open.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  close(): void {
    this.#closing = true;
    for (const request of this.#open) request.wrapUp();
  }

  #beat(): void {
    for (const request of this.#open) request.heartbeat?.();
  }
}
