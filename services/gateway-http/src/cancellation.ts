import { type ControlRequest, sendControl } from "./control-mail.js";
import { lookUpFinal, readEntry } from "@troupe/channel-kit";
import type { Gateway } from "./gateway.js";
import { originFor, type SessionRef } from "./session-access.js";
import { type TurnWatch, watchTurn } from "./turn-wait.js";
import { waitingMail } from "./waiting-mail.js";

/** How long the final of a message may come after the cancel that ended it. */
const FINAL_LIMIT_MS = 2_000;

export interface Cancellation {
  /** The turn that was ended: the running one, else that of the first message that nobody had taken up yet. */
  readonly turn: string | null;
  readonly cancelled: boolean;
}

/**
 * Cancels what runs and what waits. The state's outcome names only a turn that ran; a message that still lay in the
 * queue (K2) is told apart by its own final.
 */
export async function cancelTurn(gateway: Gateway, request: ControlRequest): Promise<Cancellation> {
  const { session, principal } = request;
  const origin = originFor(session, principal) === "ops" ? "ops" : "in";
  const [waiting] = await waitingMail(gateway.mailbox, session, await freshEntry(gateway, session), [origin]);
  const watch = waiting === undefined ? null : watchTurn(gateway.outbox, session.key, waiting.turn);
  try {
    const { turn } = await sendControl(gateway, request);
    if (turn !== null) return { turn, cancelled: true };
    if (waiting === undefined || watch === null) return { turn: null, cancelled: false };
    const kind = await finalKind(gateway, session, waiting.turn, watch);
    // What comes before a cancel in the same queue and has no final yet is ended by it.
    const cancelled = kind === "cancelled" || (kind === null && origin === "in");
    return { turn: cancelled ? waiting.turn : null, cancelled };
  } finally {
    watch?.stop();
  }
}

async function finalKind(gateway: Gateway, session: SessionRef, turn: string, watch: TurnWatch) {
  const known = await lookUpFinal(gateway, session, turn, await freshEntry(gateway, session));
  if (known !== null) return known.kind;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, FINAL_LIMIT_MS, null);
  });
  const final = await Promise.race([watch.final, late]);
  clearTimeout(timer);
  return final === null ? null : final.kind;
}

async function freshEntry({ sessions }: Pick<Gateway, "sessions">, session: SessionRef) {
  const stored = await sessions.readFresh(session.key);
  const read = stored === null ? null : readEntry(stored.text);
  return read?.kind === "ok" ? read.entry : null;
}
