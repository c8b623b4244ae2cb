import { TextDecoderStream } from "node:stream/web";
import { backoff, delay } from "@troupe/platform";
import { EventSourceParserStream } from "eventsource-parser/stream";
import type { GatewayClient } from "./gateway-client.js";
import { decodeEvent, type GatewayEvent } from "./gateway-event.js";
import { GatewayFailure } from "./gateway-failure.js";
import { liveBody } from "./live-body.js";

const MAX_EVENT_LENGTH = 8_000_000;
/** The gateway shows every 15 s that it is there; after twice that the connection is dead. */
const SILENCE_MS = 35_000;

export interface FeedHandlers {
  readonly event: (event: GatewayEvent) => void;
  /** The gateway cannot be reached again at once; called once per loss. */
  readonly lost: (reason: string) => void;
  /** There is a new connection. What was durable arrives; what was live in between is gone. */
  readonly back: () => void;
  /** The gateway refuses the stream for good. */
  readonly refused: (failure: GatewayFailure) => void;
}

export interface EventFeed {
  close(): void;
}

/**
 * Follows a session's events. The first connection is made before this resolves, so that a message sent afterwards
 * cannot be answered unseen; later ones are made again with the id of the last durable event, for as long as it takes.
 *
 * @param silenceMs after which a connection on which nothing comes counts as lost
 * @throws GatewayFailure when the first connection cannot be made
 */
export async function openEventFeed(
  client: GatewayClient,
  session: string,
  handlers: FeedHandlers,
  silenceMs: number = SILENCE_MS,
): Promise<EventFeed> {
  const abort = new AbortController();
  const first = await client.events(session, undefined, abort.signal);
  void follow(first, { client, session, handlers, silenceMs, signal: abort.signal });
  return { close: () => abort.abort() };
}

interface Following {
  readonly client: GatewayClient;
  readonly session: string;
  readonly handlers: FeedHandlers;
  readonly silenceMs: number;
  readonly signal: AbortSignal;
}

async function follow(first: Response, { client, session, handlers, silenceMs, signal }: Following): Promise<void> {
  const waits = backoff({ minMs: 250, maxMs: 5_000 });
  let lastEventId: string | undefined;
  let response: Response | undefined = first;
  let told = false;
  let connections = 0;
  while (!signal.aborted) {
    let leastMs = 0;
    try {
      response ??= await client.events(session, lastEventId, signal);
      if (connections++ > 0) handlers.back();
      told = false;
      for await (const message of messagesOf(response, silenceMs)) {
        waits.reset();
        if (message.id !== undefined) lastEventId = message.id;
        const event = decodeEvent(message.event, message.data);
        if (event !== undefined) handlers.event(event);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof GatewayFailure) {
        if (!error.retryable) return handlers.refused(error);
        leastMs = error.retryAfterMs;
        // A gateway ends a stream now and then for its own reasons; only one that is gone is worth a word.
        if (!told) handlers.lost(error.message);
        told = true;
      }
    }
    if (signal.aborted) return;
    response = undefined;
    await delay(leastMs + waits.next(), signal).catch(() => undefined);
  }
}

function messagesOf(
  response: Response,
  silenceMs: number,
): AsyncIterable<{ id?: string | undefined; event?: string | undefined; data: string }> {
  if (response.body === null) throw new GatewayFailure("the event stream is empty", { retryable: true });
  return liveBody(response.body, silenceMs)
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream({ maxBufferSize: MAX_EVENT_LENGTH }));
}
