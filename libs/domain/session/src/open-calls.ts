import type { LogMessage, SessionFields } from "@troupe/contracts";

/** Ids of the calls in an assistant message. */
export function callsIn(message: LogMessage): readonly string[] {
  return message.role === "assistant" ? (message.tool_calls ?? []).map((call) => call.id) : [];
}

/** Ids of the newest group's calls that have no result yet. */
export function openCalls({ log }: Pick<SessionFields, "log">): string[] {
  const at = log.tail.findLastIndex((message) => message.role !== "tool");
  const last = log.tail[at];
  if (last === undefined) return [];
  const done = new Set(log.tail.slice(at + 1).map((message) => (message.role === "tool" ? message.tool_call_id : "")));
  return callsIn(last).filter((id) => !done.has(id));
}
