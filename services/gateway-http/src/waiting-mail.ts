import { decode, type SessionEntry, UserMessage } from "@troupe/contracts";
import type { LogOrigin, MailPort } from "@troupe/kernel";
import type { SessionRef } from "./session-access.js";

/** More than anybody sends before the first of them is taken up; a bound for what is read. */
const MAX_COUNTED = 256;

/**
 * Messages of people that lie in MAIL and that the session's state does not know of yet: whoever has
 * just been told that a message was accepted must not be told that there is no such session.
 */
export async function waitingMail(
  mailbox: MailPort,
  session: SessionRef,
  entry: Pick<SessionEntry, "cursors"> | null,
  origins: readonly LogOrigin[] = ["in", "ops"],
): Promise<UserMessage[]> {
  const { user = 0, cut = 0, ops = 0 } = entry?.cursors ?? {};
  const behind: Readonly<Record<LogOrigin, number>> = { in: Math.max(user, cut), ops };
  const waiting = await Promise.all(
    origins.map(async (origin) => {
      const items = await mailbox.read(session.key, origin, behind[origin] + 1, MAX_COUNTED);
      return items.flatMap(({ text }) => {
        const read = decode(UserMessage, text);
        return read.kind === "ok" ? [read.message] : [];
      });
    }),
  );
  return waiting.flat();
}
