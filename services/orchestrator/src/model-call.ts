import type { ModelClient, ModelOutcome, ModelRequest } from "@troupe/contracts";
import { backoff, delay } from "@troupe/platform";

/**
 * One model call that does not give up at the first failure: what may pass is tried again, as long
 * as the turn has time.
 */
export interface CallListener {
  /** Text of the present try, in pieces. */
  readonly onText: (text: string) => void;
  /** What was told so far is void; the next try begins. */
  readonly onRetry: (failure: Extract<ModelOutcome, { kind: "failed" }>, shown: boolean) => void;
}

const MAX_TRIES = 3;
/** A provider that asks for a longer pause than this is treated as unavailable. */
const LONGEST_PAUSE_MS = 20_000;

export async function callModel(
  client: ModelClient,
  request: ModelRequest,
  signal: AbortSignal,
  listener: CallListener,
): Promise<ModelOutcome> {
  const pauses = backoff({ minMs: 250, maxMs: 4_000 });
  for (let tries = 1; ; tries++) {
    let shown = false;
    const outcome = await client.complete(request, {
      signal,
      onText: (text) => {
        shown = true;
        listener.onText(text);
      },
    });
    if (outcome.kind !== "failed" || !outcome.retryable || tries === MAX_TRIES) return outcome;
    const pauseMs = outcome.retryAfterMs ?? pauses.next();
    if (pauseMs > LONGEST_PAUSE_MS) return outcome;
    listener.onRetry(outcome, shown);
    if (!(await slept(pauseMs, signal))) return { kind: "aborted" };
  }
}

async function slept(ms: number, signal: AbortSignal): Promise<boolean> {
  await delay(ms, signal).catch(() => undefined);
  return !signal.aborted;
}
