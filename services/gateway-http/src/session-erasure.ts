import type { SessionKey } from "@troupe/contracts";
import { type ControlRequest, sendControl } from "./control-mail.js";
import type { Gateway } from "./gateway.js";
import { HttpProblem } from "./problem.js";
import { durableEvent } from "@troupe/channel-kit";

/** How long the final of the turn that the erasure ended may take to be published. */
const FINAL_LIMIT_MS = 2_000;

/**
 * Erases a session's state, then all that it has left elsewhere. When the second half fails the client is asked to
 * repeat the request: it goes on with what is left, and only when nothing is, the session is unknown.
 *
 * @param erase erases the state; throws the 404 when there is none
 * @throws HttpProblem 503 when something may be left, and what `erase` throws
 */
export async function eraseSession(
  { forget, log }: Pick<Gateway, "forget" | "log">,
  key: SessionKey,
  erase: () => Promise<void>,
): Promise<void> {
  const unknown = await erase().then(
    () => null,
    (error: unknown) => {
      if (error instanceof HttpProblem && error.status === 404) return error;
      throw error;
    },
  );
  let removed: boolean;
  try {
    removed = await forget(key);
  } catch (cause) {
    log.warn({ err: cause, key }, "an erased session has left something behind");
    const detail = "not all that belongs to the session could be removed; repeat the request";
    throw new HttpProblem(503, "erase_unfinished", detail, { retryAfterMs: 2_000, cause });
  }
  if (unknown !== null && !removed) throw unknown;
}

/**
 * Sends the mail that erases the state. Effects are published in order (K3), so once the final of the turn that was
 * ended is there, nothing said earlier can come to the outbox after it has been purged.
 */
export async function eraseState(gateway: Gateway, request: ControlRequest): Promise<void> {
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
