import { expect } from "vitest";
import type { HistoryMessage } from "./api-shapes.js";

/** What a strict provider asks of a history, and what nobody may see broken in one. */
export function expectValidHistory(messages: readonly HistoryMessage[]): void {
  expect(messages.map(({ index }) => index)).toEqual(messages.map((_, place) => place));
  const ids = new Set<string>();
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      expect(open, "a result belongs to a call right before it").toContain(message.tool_call_id);
      open = open.filter((id) => id !== message.tool_call_id);
      continue;
    }
    expect(open, "every call is followed by its result").toEqual([]);
    if (message.role === "user") continue;
    for (const call of message.tool_calls ?? []) {
      expect(call.id).not.toBe("");
      expect(ids, "ids of calls are unique").not.toContain(call.id);
      ids.add(call.id);
      expect(JSON.parse(call.function.arguments), "arguments are an object").toBeTypeOf("object");
      open.push(call.id);
    }
    expect(message.content !== null || open.length > 0, "no empty message").toBe(true);
  }
  expect(open, "every call is followed by its result").toEqual([]);
}

/** Role and text of each message: enough to compare a whole conversation. */
export function outline(messages: readonly HistoryMessage[]): string[] {
  return messages.map(({ role, content }) => `${role}: ${content ?? "(calls)"}`);
}
