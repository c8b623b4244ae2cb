import { deliveryIdOf, formatSessionId, type OutboxMessage, type SessionKey, sessionOfKey } from "@troupe/contracts";
import type { Reply } from "../channel.js";

/** What is shown to people of a message in the outbox; null: nothing is. */
export function replyOf(key: SessionKey, message: OutboxMessage): Omit<Reply, "attempt"> | null {
  const session = sessionOfKey(key);
  if (session === undefined) return null;
  const head = {
    id: deliveryIdOf(message),
    session: formatSessionId(session.id),
    conversation: session.id.conversation,
  };
  switch (message.kind) {
    case "notice":
      return { ...head, turn: message.notice.turn, kind: "notice", text: message.notice.text };
    case "final": {
      const { turn, kind, text } = message.final;
      // The turn that took the message in answers it; of this one there is nothing to show.
      if (kind === "merged" || text === "") return null;
      return { ...head, turn, kind, text };
    }
  }
}
