import { durableEvent } from "@troupe/channel-kit";
import { EntryHead, outboxSubject, type SessionKey, UserMessage, decode } from "@troupe/contracts";
import { z } from "zod";
import { type ControlRequest, sendControl } from "./control-mail.js";
import type { Gateway } from "./gateway.js";
import { HttpProblem } from "./problem.js";
import { loadSession, type SessionRef } from "./session-access.js";

/** How long the final of the turn that the erasure ended may take to be published. */
const FINAL_LIMIT_MS = 2_000;
/** How long the erasure is repeated for. */
const ERASE_LIMIT_MS = 8_000;
/** Messages that an erasure overtook and that are looked for at once. */
const MAX_OVERTAKEN = 256;
const CLIENT_LEFT = "the client has left";

/**
 * Erases a session's state, then all that it has left elsewhere. When the second half fails the client is asked to
 * repeat the request: it goes on with what is left, and only when nothing is, the session is unknown.
 *
 * A client that has left may have been told by another gateway that all is gone, and may speak again already: nothing is
 * removed for it any more, or a late removal would take a new conversation with it.
 *
 * @param erase erases the state; throws the 404 when there is none
 * @param isGone whether the client has left
 * @throws HttpProblem 503 when something may be left, and what `erase` throws
 */
export async function eraseSession(
  { forget, log }: Pick<Gateway, "forget" | "log">,
  key: SessionKey,
  { erase, isGone }: { readonly erase: () => Promise<void>; readonly isGone: () => boolean },
): Promise<void> {
  const unknown = await unknownSession(erase());
  if (isGone()) throw unfinished(CLIENT_LEFT);
  let removed: boolean;
  try {
    removed = await forget(key);
  } catch (cause) {
    log.warn({ err: cause, key }, "an erased session has left something behind");
    throw unfinished("not all that belongs to the session could be removed", cause);
  }
  if (unknown !== null && !removed) throw unknown;
}

/**
 * Sends the mail that erases the state, again and again until the state owes nothing more to people: what it lists may
 * be published at any time, also by whoever takes over from a process that died, and would come to the outbox after
 * that has been purged. What no state lists is never published (K9).
 *
 * @throws HttpProblem 404 when there is no such session, 503 when the state keeps owing something
 */
export async function eraseState(gateway: Gateway, request: ControlRequest, isGone: () => boolean): Promise<void> {
  const { session } = request;
  const deadline = performance.now() + ERASE_LIMIT_MS;
  const unknown = await unknownSession(loadSession(gateway, session));
  if (unknown !== null && (await isSettled(gateway, session))) throw unknown;
  do {
    if (isGone()) throw unfinished(CLIENT_LEFT);
    if (performance.now() > deadline) throw unfinished("what the session still has to say could not be ended");
    await eraseOnce(gateway, request);
  } while (!(await isSettled(gateway, session)));
}

/** The 404 that a look at a session ended in; null when there is one. */
async function unknownSession(look: Promise<unknown>): Promise<HttpProblem | null> {
  try {
    await look;
    return null;
  } catch (error) {
    if (error instanceof HttpProblem && error.status === 404) return error;
    throw error;
  }
}

async function isSettled({ sessions, mailbox }: Gateway, { key }: SessionRef): Promise<boolean> {
  const stored = await sessions.readFresh(key);
  if (stored === null) return true;
  const { user, cut } = EntryHead.parse(JSON.parse(stored.text)).cursors;
  if (owes(key, stored.text)) return false;
  if (cut <= user) return true;
  const unread = await mailbox.read(key, "in", user + 1, MAX_OVERTAKEN);
  return !unread.some(({ seq, text }) => seq <= cut && decode(UserMessage, text).kind === "ok");
}

const Owing = z.object({
  outstanding: z.array(z.object({ subject: z.string().optional(), body: z.unknown().optional() })),
  fields: z.object({ erased: z.boolean(), generation: z.number() }),
});
const Said = z.object({ generation: z.number() });

/** Whether a state lists messages to people from before it was erased. */
export function owes(key: SessionKey, text: string): boolean {
  const { outstanding, fields } = Owing.parse(JSON.parse(text));
  const said = outstanding.filter(({ subject }) => subject === outboxSubject(key));
  // What has been said since begins a new conversation.
  return said.some(({ body }) => fields.erased || Said.parse(body).generation < fields.generation);
}

/**
 * Effects are published in order (K3), so once the final of the turn that was ended is there, what was said earlier is
 * in the outbox too.
 */
async function eraseOnce(gateway: Gateway, request: ControlRequest): Promise<void> {
  const ended = new Set<string>();
  let look = (): void => {};
  const stop = gateway.outbox.listen(request.session.key, (stored) => {
    const event = durableEvent(stored);
    if (event?.kind !== "durable" || event.ends === null) return;
    ended.add(event.ends);
    look();
  });
  try {
    const { turn } = await sendControl(gateway, request);
    if (turn === null) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, FINAL_LIMIT_MS);
      look = () => {
        if (!ended.has(turn)) return;
        clearTimeout(timer);
        resolve();
      };
      look();
    });
  } finally {
    stop();
  }
}

function unfinished(what: string, cause?: unknown): HttpProblem {
  return new HttpProblem(503, "erase_unfinished", `${what}; repeat the request`, { retryAfterMs: 2_000, cause });
}
