import { followConversation, onceFor } from "@troupe/channel-kit";
import type { SessionKey } from "@troupe/contracts";
import type { Gateway } from "./gateway.js";
import { eventFrame } from "./session-event.js";
import { MAX_WAITING_BYTES, type SseResponse } from "./sse-response.js";

/** Time after which a client whose stream ended comes back, in milliseconds. */
const RETRY_MS = 1_000;

const frameOf = onceFor(eventFrame, Object.is);

/**
 * Writes a conversation's events to a stream until either side ends it.
 *
 * @param after the last durable event that the reader has had; null: it wants only what happens from now on
 */
export async function streamEvents(
  gateway: Pick<Gateway, "outbox" | "live" | "onUnread" | "long" | "metrics">,
  key: SessionKey,
  after: number | null,
  out: SseResponse,
): Promise<void> {
  const { long, metrics } = gateway;
  const following = followConversation(gateway, key, {
    after,
    onEvent: (event) => out.write(frameOf(event)),
    ready: async () => {
      await out.drained();
      return out.open;
    },
    onHeld: (length) => {
      if (length > MAX_WAITING_BYTES) out.cut();
    },
  });
  const leave = long.add({
    heartbeat: () => out.write(": alive\n\n"),
    wrapUp: () => out.end(`retry: ${RETRY_MS}\n\n`),
  });
  metrics.openStreams.inc();
  out.onClose(() => {
    metrics.openStreams.dec();
    following.stop();
    leave();
  });
  out.write(`retry: ${RETRY_MS}\n\n`);
  await following.caughtUp;
}
