import { cells, cutTo } from "./cell-rows.js";
import type { DeadItem, DeadLetterAnswer, DeadPage, Retried } from "./dead-answer.js";
import type { GatewayClient } from "./gateway-client.js";
import { localTime } from "./local-time.js";
import { sanitise, sanitiseLine } from "./sanitise.js";

const PAGE = 100;
const GAP = "  ";
/** What the columns that are as wide as they have to be take, about; the other two share the rest. */
const FIXED = 40;
const LEAST_SESSION = 12;
const LEAST_REASON = 6;

/** The newest dead letters, from as many pages as it takes. */
export async function listDead(
  client: GatewayClient,
  { limit, kind, session }: { readonly limit: number; readonly kind?: string; readonly session?: string },
): Promise<DeadPage> {
  const dead: DeadItem[] = [];
  for (let next: string | null = null; ; ) {
    const query = new URLSearchParams({ limit: String(Math.min(PAGE, limit - dead.length)) });
    if (kind !== undefined) query.set("kind", kind);
    if (session !== undefined) query.set("session", session);
    if (next !== null) query.set("cursor", next);
    const page = await client.deadLetters(query);
    dead.push(...page.dead);
    next = page.next;
    if (next === null || dead.length >= limit) return { dead: dead.slice(0, limit), next, total: page.total };
  }
}

/** A table for people. In a terminal of `columns` each letter is one line; elsewhere nothing is cut. */
export function deadTable({ dead, next, total }: DeadPage, columns = Number.POSITIVE_INFINITY): string {
  if (dead.length === 0) return "no dead letters";
  const head = ["ID", "KIND", "SESSION", "SINCE", "RETRY", "REASON"];
  const longest = Math.max(LEAST_SESSION, Math.floor((columns - FIXED) / 2));
  const rows = dead.map(({ id, kind, session, at, retryable, reason }) => [
    sanitiseLine(id),
    sanitiseLine(kind ?? "-"),
    cutTo(sanitiseLine(session ?? "-"), longest),
    localTime(at),
    retryable ? "yes" : "no",
    sanitiseLine(reason),
  ]);
  const table = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...table.map((row) => cells(row[column] ?? ""))));
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0);
  const room = Math.max(LEAST_REASON, columns - before);
  const lines = table.map((row) =>
    row
      .map((cell, column) => (column === head.length - 1 ? cutTo(cell, room) : padded(cell, widths[column] ?? 0)))
      .join(GAP)
      .trimEnd(),
  );
  return next === null
    ? lines.join("\n")
    : `${lines.join("\n")}\n… and ${total - dead.length} more: --limit shows them`;
}

function padded(cell: string, width: number): string {
  return cell + " ".repeat(width - cells(cell));
}

/** All of one letter; its body last, as it is but for what a terminal would obey. */
export function deadText(letter: DeadLetterAnswer): string {
  const { id, kind, session, at, reason, subject, seq, refusal, truncated, body } = letter;
  const lines = [
    ["id", id],
    ["kind", kind ?? "-"],
    ["session", session ?? "-"],
    ["since", localTime(at)],
    ["came by", subject === null ? "-" : `${subject} (${seq ?? "-"})`],
    ["reason", reason],
    ["retry", refusal === null ? `troupe dead retry ${id}` : `refused: ${refusal}`],
    ["body", truncated ? "only the beginning was kept:" : ""],
  ] as const;
  return [...lines.map(([name, value]) => `${name.padEnd(8)} ${sanitiseLine(value)}`.trimEnd()), sanitise(body)].join(
    "\n",
  );
}

/** One line on what a retry did. */
export function retriedText(id: string, { session, outcome, turn, duplicate }: Retried): string {
  return sanitiseLine(`${id}: ${doneText(outcome, duplicate)}${turnText(session, turn)}`);
}

function doneText(outcome: string, duplicate: boolean): string {
  if (outcome === "waiting") return "not needed, a job like it waits already";
  if (outcome !== "sent") return outcome;
  return duplicate ? "had been sent again already" : "sent again";
}

function turnText(session: string | null, turn: string | null): string {
  return turn === null ? "" : `, to be answered in ${session ?? "its session"} as turn ${turn}`;
}
