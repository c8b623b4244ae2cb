import type { TroupeSystem } from "@troupe/testkit";
import { createParser, type EventSourceMessage } from "eventsource-parser";

export interface EventReader {
  readonly events: readonly EventSourceMessage[];
  /** The first event, past or to come, that fits. */
  next(fits: (event: EventSourceMessage) => boolean): Promise<EventSourceMessage>;
  close(): void;
}

const LIMIT_MS = 30_000;

/** Follows a session's events; listening has begun when this resolves. */
export async function followEvents(
  { url, token }: Pick<TroupeSystem, "url" | "token">,
  session: string,
  lastEventId?: string,
): Promise<EventReader> {
  const abort = new AbortController();
  const response = await fetch(`${url}/v1/sessions/${encodeURIComponent(session)}/events`, {
    signal: abort.signal,
    headers: {
      authorization: `Bearer ${token}`,
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    },
  });
  if (response.status !== 200 || response.body === null) throw new Error(`the stream is refused: ${response.status}`);
  const text = response.body.pipeThrough(new TextDecoderStream());
  const events: EventSourceMessage[] = [];
  const waiting = new Set<() => void>();
  const parser = createParser({
    onEvent: (event) => {
      events.push(event);
      for (const look of waiting) look();
    },
  });
  const read = async (): Promise<void> => {
    for await (const part of text) parser.feed(part);
  };
  read().catch(() => undefined);
  return {
    events,
    next: (fits) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = events.find(fits);
          if (found === undefined) return;
          clearTimeout(limit);
          waiting.delete(look);
          resolve(found);
        };
        const limit = setTimeout(() => {
          waiting.delete(look);
          reject(new Error(`no such event; came: ${events.map(({ event, data }) => `${event} ${data}`).join("\n")}`));
        }, LIMIT_MS);
        waiting.add(look);
        look();
      }),
    close: () => abort.abort(),
  };
}
