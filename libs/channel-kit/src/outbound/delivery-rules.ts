import type { DeliveryRecord, DeliveryStatus } from "@troupe/contracts";
import type { Channel, SendOutcome } from "../channel.js";

/** How a reply's way ends. */
export type Settlement = "confirmed" | "rejected" | "unsettled";

export function settlementOf(status: DeliveryStatus): Settlement | null {
  return status === "sending" || status === "waiting" ? null : status;
}

export type Finding =
  | { readonly kind: "settled"; readonly as: Settlement }
  /** The claim is ours already: its write had landed though its answer was lost. */
  | { readonly kind: "claimed" }
  /** To be written in place of what was found; with `claims` the send is ours then. */
  | { readonly kind: "write"; readonly claims: boolean; readonly change: RecordChange };

export type RecordChange = Pick<DeliveryRecord, "status" | "attempt" | "sender" | "receipt" | "reason">;

export const SENDER_GONE = "whoever was sending it has not said what became of it";

/** D1 D3 What to do about a reply of which this is known, for a sender who wants to send it. */
export function findingOf(record: DeliveryRecord | null, sender: string, resend: Channel["resend"]): Finding {
  const claim = (attempt: number): Finding => ({
    kind: "write",
    claims: true,
    change: { status: "sending", attempt, sender, receipt: null, reason: null },
  });
  if (record === null) return claim(1);
  const { status, attempt, receipt } = record;
  const settled = settlementOf(status);
  if (settled !== null) return { kind: "settled", as: settled };
  if (status === "waiting" || resend === "harmless") {
    return status === "sending" && record.sender === sender ? { kind: "claimed" } : claim(attempt + 1);
  }
  if (record.sender === sender) return { kind: "claimed" };
  const change: RecordChange = { status: "unsettled", attempt, sender: record.sender, receipt, reason: SENDER_GONE };
  return { kind: "write", claims: false, change };
}

/** D3 Of a record that is there and cannot be read: it may have said anything. */
export function findingOfUnreadable(sender: string, resend: Channel["resend"]): Finding {
  const claims = resend === "harmless";
  const [status, reason] = claims
    ? (["sending", null] as const)
    : (["unsettled", "its record cannot be read"] as const);
  return { kind: "write", claims, change: { status, attempt: 1, sender, receipt: null, reason } };
}

export interface SendRules {
  readonly resend: Channel["resend"];
  /** Sends of one reply, at most. */
  readonly maxAttempts: number;
}

/** D2 D6 What a send's outcome makes of the record. */
export function changeOf(outcome: SendOutcome, claim: RecordChange, { resend, maxAttempts }: SendRules): RecordChange {
  const last = claim.attempt >= maxAttempts;
  switch (outcome.kind) {
    case "delivered":
      return { ...claim, status: "confirmed", receipt: outcome.receipt ?? null };
    case "rejected":
      return { ...claim, status: "rejected", reason: outcome.reason };
    case "not-sent":
      return last
        ? { ...claim, status: "rejected", reason: `not sent in ${claim.attempt} attempts: ${outcome.reason}` }
        : { ...claim, status: "waiting", reason: outcome.reason };
    case "unknown":
      return { ...claim, status: resend === "harmless" && !last ? "waiting" : "unsettled", reason: outcome.reason };
  }
}

/** Milliseconds after the n-th attempt until the next: as the outside asks, and never faster than doubling pauses. */
export function pauseAfter(
  attempt: number,
  askedMs: number | undefined,
  { firstPauseMs, longestPauseMs }: { readonly firstPauseMs: number; readonly longestPauseMs: number },
): number {
  const doubled = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(attempt - 1, 30));
  return Math.min(Math.max(doubled, askedMs ?? 0), LONGEST_ASKED_MS);
}

/** An outside that asks for more is asked again after this. */
const LONGEST_ASKED_MS = 3_600_000;

/**
 * D4 Whether what a sender knows of its own send goes into a record that another has changed meanwhile: the other could
 * only guess. But a claim that another has made since stands unless this send has surely been shown, and what has been
 * flagged is not taken up again, because nobody waits to send it any more.
 */
export function overrules(found: DeliveryRecord, change: RecordChange): boolean {
  if (found.status === "confirmed" || found.status === "rejected") return false;
  if (change.status === "confirmed") return true;
  return found.sender === change.sender && (change.status === "rejected" || found.status !== "unsettled");
}
