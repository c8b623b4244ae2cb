import { createParser, type EventSourceMessage } from "eventsource-parser";
import type { RunningGateway } from "./gateway-harness.js";

export interface EventReader {
  readonly events: EventSourceMessage[];
  readonly status: number;
  readonly retries: number[];
  /** Resolves with the first event, past or to come, that fits. */
  next(fits: (event: EventSourceMessage) => boolean): Promise<EventSourceMessage>;
  readonly ended: Promise<void>;
  close(): void;
}

/** Follows a session's events over HTTP. */
export async function followEvents(
  gateway: RunningGateway,
  session: string,
  lastEventId?: string,
): Promise<EventReader> {
  const abort = new AbortController();
  const response = await fetch(`${gateway.url}/v1/sessions/${encodeURIComponent(session)}/events`, {
    signal: abort.signal,
    headers: {
      authorization: "Bearer a-token-for-tests",
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    },
  });
  const events: EventSourceMessage[] = [];
  const retries: number[] = [];
  const waiting = new Set<() => void>();
  const parser = createParser({
    onEvent: (event) => {
      events.push(event);
      for (const look of waiting) look();
    },
    onRetry: (ms) => retries.push(ms),
  });
  const read = async (): Promise<void> => {
    const text = response.body?.pipeThrough(new TextDecoderStream());
    if (text === undefined) return;
    for await (const part of text) parser.feed(part);
  };
  const ended = read().catch(() => {});
  return {
    events,
    status: response.status,
    retries,
    ended,
    next: (fits) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = events.find(fits);
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
        void ended.then(() => reject(new Error("the stream ended before such an event came")));
      }),
    close: () => abort.abort(),
  };
}
