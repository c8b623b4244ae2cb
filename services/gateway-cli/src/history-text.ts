import type { ChatView } from "./chat-view.js";
import type { Message } from "./gateway-answer.js";
import type { GatewayClient } from "./gateway-client.js";

const LINES_SHOWN = 20;
const CHARACTERS_SHOWN = 2_000;
const MOST = 1_000;

/**
 * Shows the last messages, each cut to a readable length.
 *
 * @returns the turns whose answer is among them
 */
export async function showHistory(
  client: GatewayClient,
  session: string,
  { count, view }: { readonly count: number; readonly view: ChatView },
): Promise<string[]> {
  const state = await client.session(session);
  const total = state?.messageCount ?? 0;
  if (total === 0) {
    view.note("no messages yet", "quiet");
    return [];
  }
  const limit = Math.min(count, MOST);
  const from = Math.max(0, total - limit);
  const { messages } = await client.messages(session, { from, limit });
  if (from > 0) view.note(`${from} earlier ${from === 1 ? "message" : "messages"}: /history [n] shows more`, "quiet");
  const tools = new Map<string, string>();
  for (const message of messages) showMessage(message, tools, view);
  return messages.filter(isAnswer).map(({ turn }) => turn);
}

function showMessage(message: Message, tools: Map<string, string>, view: ChatView): void {
  switch (message.role) {
    case "user":
      return view.question(cut(message.content));
    case "assistant":
      for (const call of message.tool_calls ?? []) tools.set(call.id, call.function.name);
      if (message.content !== null && message.content !== "") view.answer(cut(message.content), false);
      return;
    case "tool": {
      const name = tools.get(message.tool_call_id) ?? "?";
      return view.note(`tool ${name}${message.isError === true ? " failed" : ""}`, "quiet");
    }
  }
}

/** An assistant message without tool calls is what its turn ended with. */
function isAnswer(message: Message): boolean {
  return message.role === "assistant" && (message.tool_calls ?? []).length === 0;
}

function cut(text: string): string {
  const lines = text.slice(0, CHARACTERS_SHOWN).split("\n");
  const shown = lines.slice(0, LINES_SHOWN).join("\n");
  return shown.length < text.length ? `${shown} …` : text;
}
