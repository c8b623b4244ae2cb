import type { LogMessage } from "@troupe/contracts";
import { estimateTokens } from "./window.js";

/** Share of the budget that the log beyond the summary may reach before the older half is summarised. */
const FULL = 0.75;
const KEPT = 0.4;

/**
 * Which messages the next summary should cover, as places in the log, or null while there is room.
 * The range ends before a user message, and the newest part of the log stays out of it.
 */
export function summaryRange(
  log: readonly LogMessage[],
  from: number,
  budgetTokens: number,
): { readonly from: number; readonly to: number } | null {
  const sizes = log.map(estimateTokens);
  const beyond = sizes.slice(from).reduce((sum, size) => sum + size, 0);
  if (beyond <= budgetTokens * FULL) return null;
  let kept = 0;
  let to = log.length;
  while (to > from && kept + (sizes[to - 1] ?? 0) <= budgetTokens * KEPT) kept += sizes[--to] ?? 0;
  while (to > from && log[to]?.role !== "user") to -= 1;
  return to > from ? { from, to } : null;
}
