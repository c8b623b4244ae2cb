import { randomBytes } from "node:crypto";
import { Cancel, type ControlOutcome, encode, Erase, mailSubject, Reset, SCHEMA_VERSION } from "@troupe/contracts";
import type { SessionReader } from "@troupe/jetstream";
import type { Gateway } from "./gateway.js";
import type { Principal } from "./principal.js";
import { HttpProblem } from "./problem.js";
import { readEntry } from "@troupe/channel-kit";
import { originFor, type SessionRef } from "./session-access.js";

/** How long an orchestrator may take to act on control mail before the client is told that none does. */
const OUTCOME_LIMIT_MS = 10_000;

const SCHEMAS = { cancel: Cancel, reset: Reset, erase: Erase } as const;

export interface ControlRequest {
  readonly kind: keyof typeof SCHEMAS;
  readonly session: SessionRef;
  readonly principal: Principal;
  readonly traceparent: string;
}

/**
 * Sends control mail and waits until the session's state says what it did.
 *
 * @throws HttpProblem 503 when no orchestrator has acted on it in time; the mail stays in the queue
 */
export async function sendControl(
  { mail, sessions, long }: Pick<Gateway, "mail" | "sessions" | "long">,
  request: ControlRequest,
): Promise<ControlOutcome> {
  const { kind, session, principal, traceparent } = request;
  const id = `c_${randomBytes(16).toString("hex")}`;
  const subject = mailSubject("session", session.key, originFor(session, principal));
  const body = encode(SCHEMAS[kind], { v: SCHEMA_VERSION, id, kind, principal: principal.id });
  const watch = await watchOutcome(sessions, session, id);
  let timer: NodeJS.Timeout | undefined;
  let leave = (): void => {};
  const givenUp = new Promise<never>((_, reject) => {
    const giveUp = (why: string): void =>
      reject(
        new HttpProblem(503, "no_orchestrator", `${why}; the ${kind} stays queued`, {
          retryAfterMs: 5_000,
        }),
      );
    timer = setTimeout(giveUp, OUTCOME_LIMIT_MS, "no orchestrator has acted on it yet");
    leave = long.add({ wrapUp: () => giveUp("the gateway is stopping") });
  });
  try {
    const acted = mail.send({ subject, id, body, trace: traceparent }).then(() => watch.outcome);
    return await Promise.race([acted, givenUp]);
  } finally {
    clearTimeout(timer);
    leave();
    watch.stop();
  }
}

interface OutcomeWatch {
  readonly outcome: Promise<ControlOutcome>;
  stop(): void;
}

/** Begun before the mail is sent, so that its outcome cannot come unseen. */
async function watchOutcome(sessions: SessionReader, session: SessionRef, id: string): Promise<OutcomeWatch> {
  let stopping: Promise<() => void> | undefined;
  const outcome = new Promise<ControlOutcome>((resolve) => {
    stopping = sessions.watch(session.key, ({ text }) => {
      const read = readEntry(text);
      if (read.kind !== "ok") return;
      const found = read.entry.fields.controls.find((control) => control.id === id);
      if (found !== undefined) resolve(found);
    });
  });
  const stop = await stopping;
  return { outcome, stop: () => stop?.() };
}
