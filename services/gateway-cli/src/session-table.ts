import { cells } from "./cell-rows.js";
import type { SessionPage, SessionSummary } from "./gateway-answer.js";
import type { GatewayClient } from "./gateway-client.js";
import { localTime } from "./local-time.js";
import { sanitiseLine } from "./sanitise.js";

const PAGE = 100;

/** The newest sessions, from as many pages as it takes. */
export async function listSessions(
  client: GatewayClient,
  { limit, channel }: { readonly limit: number; readonly channel?: string | undefined },
): Promise<SessionPage> {
  const sessions: SessionSummary[] = [];
  let next: string | null = null;
  do {
    const query = new URLSearchParams({ limit: String(Math.min(PAGE, limit - sessions.length)) });
    if (channel !== undefined) query.set("channel", channel);
    if (next !== null) query.set("cursor", next);
    const page = await client.sessions(query);
    sessions.push(...page.sessions);
    next = page.next;
  } while (next !== null && sessions.length < limit);
  return { sessions: sessions.slice(0, limit), next };
}

/** A table for people, with times in the machine's zone; `more` says that there are further sessions. */
export function sessionTable({ sessions, next }: SessionPage): string {
  if (sessions.length === 0) return "no sessions yet";
  const rows = sessions.map((session) => [
    sanitiseLine(session.session),
    String(session.messageCount),
    localTime(session.updatedAt),
    turnState(session.turn),
  ]);
  const table = [["SESSION", "MESSAGES", "UPDATED", "TURN"], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => cells(row[column] ?? ""))));
  const lines = table.map((row) =>
    row
      .map((cell, column) => pad(cell, column, widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return next === null ? lines.join("\n") : `${lines.join("\n")}\n… and more: --limit shows them`;
}

function pad(cell: string, column: number, width: number): string {
  const space = " ".repeat(width - cells(cell));
  return column === 1 ? space + cell : cell + space;
}

function turnState(turn: SessionSummary["turn"]): string {
  if (turn === null) return "-";
  if (typeof turn === "string") return "running";
  return sanitiseLine(turn.status ?? "running").replaceAll("_", " ");
}
