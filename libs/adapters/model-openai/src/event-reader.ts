import { createParser } from "eventsource-parser";

/** A line longer than this is no chunk of an answer; reading on would only fill the memory. */
const maxEventChars = 16 * 1024 * 1024;

/** How long a server may take to end the body after `[DONE]` before the connection is dropped. */
const drainMs = 1_000;

export interface EventHandlers {
  /** Bytes came, whatever they are: keep-alive comments show life, too. */
  onBytes(byteLength: number): void;
  /** A complete event. What it throws ends the reading. */
  onEvent(data: string, type: string | undefined): void;
  /** Drops the connection of a server that does not end its body. */
  drop(): void;
}

/**
 * Reads an event stream until `[DONE]` or its end.
 * @returns whether `[DONE]` came. Rejects with what broke the body.
 */
export async function readEvents(
  body: AsyncIterable<Uint8Array>,
  { onBytes, onEvent, drop }: EventHandlers,
): Promise<{ readonly done: boolean }> {
  let done = false;
  const parser = createParser({
    maxBufferSize: maxEventChars,
    onEvent: ({ data, event }) => {
      if (done) return;
      if (data.trim() === "[DONE]") done = true;
      else if (data.trim() !== "") onEvent(data, event);
    },
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") throw error;
    },
  });
  const decoder = new TextDecoder();
  const bytes = body[Symbol.asyncIterator]();
  let isHandedOn = false;
  try {
    for (;;) {
      const next = await bytes.next();
      if (next.done === true) break;
      onBytes(next.value.byteLength);
      parser.feed(decoder.decode(next.value, { stream: true }));
      if (done) {
        isHandedOn = true;
        // The answer is whole, so it does not wait; the body is read out to keep the connection.
        void drain(bytes, drop);
        return { done };
      }
    }
    // Some servers leave out the empty line after their last event.
    parser.feed(`${decoder.decode()}\n\n`);
    return { done };
  } finally {
    if (!isHandedOn) bytes.return?.().catch(() => {});
  }
}

async function drain(bytes: AsyncIterator<Uint8Array>, drop: () => void): Promise<void> {
  const timer = setTimeout(drop, drainMs);
  try {
    while ((await bytes.next()).done !== true);
  } catch {
    // The answer was complete: how its connection ends is of no interest.
  } finally {
    clearTimeout(timer);
  }
}
