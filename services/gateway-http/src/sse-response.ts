import type { ServerResponse } from "node:http";

/** What may wait for a slow reader before its stream is cut; it resumes with `Last-Event-ID`. */
export const MAX_WAITING_BYTES = 1024 * 1024;

/** A response of `text/event-stream` whose reader may be slow, or gone. */
export class SseResponse {
  readonly #response: ServerResponse;
  /** Length of the text that was written when nothing waited: one frame must get through, however long it is. */
  #firstLength = 0;

  /** The head of the answer goes out with the first words. */
  constructor(response: ServerResponse, headers: Readonly<Record<string, string>> = {}) {
    this.#response = response;
    // A reader that goes away is no error of ours.
    response.on("error", () => {});
    response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      // Asks reverse proxies not to collect the stream before passing it on.
      "x-accel-buffering": "no",
      ...headers,
    });
  }

  get open(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed;
  }

  /**
   * Writes unless the stream is over. Cuts it when too much waits already: judged before the write, and beside the
   * frame that began the wait, or a frame over the limit would end its stream again after each resume.
   */
  write(text: string): void {
    if (!this.open) return;
    const waiting = this.#response.writableLength;
    if (waiting === 0) this.#firstLength = Buffer.byteLength(text);
    if (waiting > MAX_WAITING_BYTES + this.#firstLength) this.cut();
    else this.#response.write(text);
  }

  /** Resolves when the reader has taken what was written, or is gone. */
  async drained(): Promise<void> {
    const response = this.#response;
    if (!this.open || !response.writableNeedDrain) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        response.off("drain", done).off("close", done);
        resolve();
      };
      response.on("drain", done).on("close", done);
    });
  }

  end(text = ""): void {
    if (this.open) this.#response.end(text);
  }

  cut(): void {
    this.#response.destroy();
  }

  onClose(fn: () => void): void {
    if (this.#response.destroyed) fn();
    else this.#response.once("close", fn);
  }
}
