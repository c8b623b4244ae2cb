import type { SessionKey } from "@troupe/contracts";
import { EventSequence } from "./event-sequence.js";
import type { Gateway } from "./gateway.js";
import { durableEvent, liveEvent, onceFor } from "./session-event.js";
import { MAX_WAITING_BYTES, type SseResponse } from "./sse-response.js";

/** Time after which a client whose stream ended comes back, in milliseconds. */
const RETRY_MS = 1_000;

const decodeDurable = onceFor(durableEvent, (one, other) => one.seq === other.seq && one.text === other.text);
const decodeLive = onceFor(liveEvent, Object.is);

/**
 * Writes a conversation's events to a stream until either side ends it.
 *
 * @param after the last durable event that the reader has had; null: it wants only what happens from now on
 */
export async function streamEvents(
  gateway: Pick<Gateway, "outbox" | "live" | "long" | "metrics">,
  key: SessionKey,
  after: number | null,
  out: SseResponse,
): Promise<void> {
  const { outbox, live, long, metrics } = gateway;
  const sequence = new EventSequence((frame) => out.write(frame), after ?? 0, after !== null);
  const take = (event: ReturnType<typeof durableEvent>): void => {
    sequence.arrived(event);
    if (sequence.heldBytes > MAX_WAITING_BYTES) out.cut();
  };
  const stops = [
    // Listening begins before the replay: between the two nothing can slip through.
    outbox.listen(key, (event) => take(decodeDurable(event))),
    live.subscribe(key, (body) => take(decodeLive(body))),
    long.add({
      heartbeat: () => out.write(": alive\n\n"),
      wrapUp: () => out.end(`retry: ${RETRY_MS}\n\n`),
    }),
  ];
  metrics.openStreams.inc();
  out.onClose(() => {
    metrics.openStreams.dec();
    for (const stop of stops) stop();
  });
  out.write(`retry: ${RETRY_MS}\n\n`);
  if (after === null) return;
  for (const event of await outbox.replay(key, after)) {
    await out.drained();
    if (!out.open) return;
    sequence.replayed(durableEvent(await outbox.whole(event)));
  }
  sequence.replayEnded();
}
