import type { LogMessage, SessionKey } from "@troupe/contracts";
import type { Bus } from "@troupe/jetstream";

export function plantedMessage(key: SessionKey, n: number): LogMessage;
export function plantConversation(
  bus: Bus,
  session: string,
  count: number,
): Promise<{ readonly key: SessionKey; readonly segments: number; readonly bytes: number }>;
