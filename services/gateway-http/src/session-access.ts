import { readEntry } from "@troupe/channel-kit";
import {
  type Channel,
  type Origin,
  parseSessionId,
  type SessionEntry,
  type SessionFields,
  type SessionKey,
} from "@troupe/contracts";
import type { Gateway } from "./gateway.js";
import type { Principal } from "./principal.js";
import { HttpProblem } from "./problem.js";
import { waitingMail } from "./waiting-mail.js";

/** A session as a request names it. */
export interface SessionRef {
  readonly key: SessionKey;
  readonly channel: Channel;
  /** The full form, `<channel>:<conversation>`. */
  readonly text: string;
}

/** What is shown of a session. */
export interface LoadedSession {
  readonly revision: number;
  readonly lease: SessionEntry["lease"];
  readonly fields: Pick<
    SessionFields,
    "generation" | "messageCount" | "lastConsolidated" | "log" | "turn" | "createdAt" | "updatedAt"
  >;
  /** Messages that wait for their turn. */
  readonly queued: number;
}

/** @throws HttpProblem 422 with the reason when the text can be no session id */
export function sessionRef(text: string): SessionRef {
  const parsed = parseSessionId(text);
  if (parsed.ok) return { key: parsed.key, channel: parsed.id.channel, text: parsed.text };
  throw new HttpProblem(422, "invalid_session", parsed.reason, {
    errors: [{ path: "session", message: parsed.reason }],
  });
}

/**
 * The origin under which a principal's mail goes into a session: this gateway is the channel `http`;
 * into another channel's session it writes as an operator.
 *
 * @throws HttpProblem 403
 */
export function originFor(session: SessionRef, principal: Principal): Origin {
  if (session.channel === "http") return "in";
  if (principal.role === "admin" || principal.role === "operator") return "ops";
  throw new HttpProblem(
    403,
    "forbidden",
    `writing into a session of channel ${session.channel} needs the role admin or operator`,
  );
}

/**
 * The session as it is now, read through the leader: whoever has just been told of a change sees it.
 * One whose first message is still to be taken up is there, and empty.
 *
 * @throws HttpProblem 404 for one that was never written to or was erased, 503 when only a newer version can read it
 */
export async function loadSession(
  { sessions, mailbox }: Pick<Gateway, "sessions" | "mailbox">,
  session: SessionRef,
): Promise<LoadedSession> {
  const stored = await sessions.readFresh(session.key);
  const entry = stored === null ? null : knownEntry(session, stored.text);
  if (entry !== null && !entry.fields.erased) {
    const { lease, fields } = entry;
    return { revision: stored?.revision ?? 0, lease, fields, queued: fields.queued.length };
  }
  const queued = (await waitingMail(mailbox, session, entry)).length;
  if (queued === 0) {
    throw new HttpProblem(404, "unknown_session", `there is no session ${session.text}`);
  }
  const now = Date.now();
  const fields = {
    generation: entry?.fields.generation ?? 0,
    messageCount: 0,
    lastConsolidated: 0,
    log: { segments: [], from: 0, tail: [] },
    turn: null,
    createdAt: now,
    updatedAt: now,
  };
  return { revision: stored?.revision ?? 0, lease: null, fields, queued };
}

function knownEntry(session: SessionRef, text: string): SessionEntry {
  const read = readEntry(text);
  switch (read.kind) {
    case "ok":
      return read.entry;
    case "newer":
      throw new HttpProblem(
        503,
        "newer_state",
        "this session was written by a newer version of Troupe than this gateway is",
        { retryAfterMs: 10_000 },
      );
    case "invalid":
      throw new Error(`the entry of ${session.key} cannot be read`);
  }
}
