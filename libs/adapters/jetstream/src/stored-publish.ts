import { setTimeout as delay } from "node:timers/promises";
import type { MsgHdrs } from "@nats-io/transport-node";
import { z } from "zod";
import { REQUEST_TIMEOUT_MS, textOf, type Wire } from "./wire.js";
import { ApiError, WireError } from "./wire-error.js";

/** Publishes that a stream acknowledges. */
export interface Outgoing {
  readonly subject: string;
  readonly body: string;
  readonly headers: MsgHdrs;
}

export interface Stored {
  readonly seq: number;
  readonly duplicate: boolean;
}

const Ack = z.union([
  z.object({ error: z.object({ err_code: z.number(), description: z.string().default("") }) }),
  z.object({ seq: z.number(), duplicate: z.boolean().default(false) }),
]);

/** One attempt; the server may be slow to sync, so an attempt has time. */
const ATTEMPT_MS = 2_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 500;

/** Codes of a cluster that has no leader at the moment. */
const LEADERLESS: readonly number[] = [10_008, 10_009];

/** Publishes once. Rejects with an `ApiError` when refused, with a `WireError` when the outcome is unknown. */
export async function publishOnce(
  wire: Wire,
  { subject, body, headers }: Outgoing,
  timeoutMs: number = REQUEST_TIMEOUT_MS,
): Promise<Stored> {
  const reply = await wire.ask({ subject, payload: body, headers }, timeoutMs);
  const ack = Ack.parse(JSON.parse(textOf(reply)));
  if ("error" in ack) throw new ApiError(ack.error.err_code, subject, ack.error.description);
  return ack;
}

/**
 * Publishes, trying again within five seconds while the server is away or without a leader. Only for
 * messages with a `Nats-Msg-Id`: that makes the repetition harmless. Rejects with the last failure.
 */
export async function publishSurely(wire: Wire, outgoing: Outgoing): Promise<Stored> {
  const deadline = performance.now() + REQUEST_TIMEOUT_MS;
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    const leftMs = deadline - performance.now();
    // A lost connection is waited for to the end; an answer that is late is asked for again.
    const attemptMs = wire.up ? Math.min(ATTEMPT_MS, leftMs) : leftMs;
    try {
      return await publishOnce(wire, outgoing, attemptMs);
    } catch (cause) {
      if (!isTransient(cause) || performance.now() + pauseMs >= deadline) throw cause;
    }
    await delay(pauseMs);
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

/** Whether the same message may well be accepted a moment later. */
export function isTransient(cause: unknown): boolean {
  if (cause instanceof ApiError) return LEADERLESS.includes(cause.code);
  return cause instanceof WireError && ["timeout", "disconnected", "no-responders"].includes(cause.kind);
}
