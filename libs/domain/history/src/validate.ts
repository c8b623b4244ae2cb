import type { ModelMessage } from "@troupe/contracts";

/**
 * What a strict provider demands of a conversation, checked before every model call.
 *
 * H1 It begins with a user message (system messages aside) and ends with a user message or a tool result.
 * H2 Right after an assistant message with calls come the results of exactly these calls, each once.
 * H3 No result stands anywhere else.
 * H4 Call ids are non-empty and unique in the whole conversation; arguments are a JSON object.
 * H5 An assistant message holds text or calls.
 */
export function problemsOf(messages: readonly ModelMessage[]): string[] {
  const problems: string[] = [];
  const spoken = messages.filter((message) => message.role !== "system");
  if (spoken[0]?.role !== "user") problems.push("H1: it does not begin with a user message");
  const last = spoken.at(-1)?.role;
  if (last !== "user" && last !== "tool") problems.push("H1: it does not end with a user message or a tool result");
  const used = new Set<string>();
  let open = new Set<string>();
  for (const message of spoken) {
    if (message.role === "tool") {
      if (!open.delete(message.tool_call_id))
        problems.push(`H3: result "${message.tool_call_id}" answers no open call`);
      continue;
    }
    for (const id of open) problems.push(`H2: call "${id}" has no result`);
    open = new Set();
    if (message.role !== "assistant") continue;
    const calls = message.tool_calls ?? [];
    if (calls.length === 0 && (message.content ?? "").trim() === "") problems.push("H5: an assistant message is empty");
    for (const call of calls) {
      if (call.id === "" || used.has(call.id)) problems.push(`H4: call id "${call.id}" is empty or used twice`);
      if (!isJsonObject(call.function.arguments)) problems.push(`H4: the arguments of "${call.id}" are no JSON object`);
      used.add(call.id);
      open.add(call.id);
    }
  }
  for (const id of open) problems.push(`H2: call "${id}" has no result`);
  return problems;
}

/** Whether a text is a JSON object, as strict providers demand of stored arguments. */
export function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
