import { backoff, delay } from "@troupe/platform";
import { GatewayFailure } from "./gateway-failure.js";

export interface PersistOptions {
  readonly signal: AbortSignal;
  /** How long to go on trying before the failure is passed on. */
  readonly forMs: number;
  /** Called before each wait. */
  readonly onRetry?: (failure: GatewayFailure) => void;
}

/**
 * Repeats an idempotent request while the gateway says, or its absence suggests, that it may succeed later; waits at
 * least as long as the gateway asked for.
 *
 * @throws the last GatewayFailure; the signal's reason once it has aborted
 */
export async function persist<T>(attempt: () => Promise<T>, options: PersistOptions): Promise<T> {
  const { signal, forMs, onRetry } = options;
  const waits = backoff({ minMs: 200, maxMs: 5_000 });
  const giveUpAt = performance.now() + forMs;
  for (;;) {
    try {
      signal.throwIfAborted();
      return await attempt();
    } catch (error) {
      if (!(error instanceof GatewayFailure) || !error.retryable) throw error;
      const waitMs = error.retryAfterMs + waits.next();
      if (performance.now() + waitMs > giveUpAt) throw error;
      onRetry?.(error);
      await delay(waitMs, signal).catch(() => signal.throwIfAborted());
    }
  }
}
