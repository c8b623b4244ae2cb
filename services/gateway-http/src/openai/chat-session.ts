import { createHash, randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { HttpProblem } from "../problem.js";
import { type SessionRef, sessionRef } from "../session-access.js";
import type { ChatRequest } from "./chat-request.js";
import type { FreshSessions } from "./fresh-sessions.js";
import { badRequest } from "./openai-error.js";

export const SESSION_HEADER = "x-troupe-session";

export interface ChatAddress {
  readonly session: SessionRef;
  readonly messageId: string;
  /** Whether this message may have been sent before. */
  readonly repeatable: boolean;
  /** Whether the id is a digest of the request, and not one that the client chose. */
  readonly derived: boolean;
  /** Set when the session was made for this request; see {@link FreshSessions}. */
  readonly fresh: string | null;
}

/**
 * Session and message id of a completion. A client of this protocol retries by itself, with the same
 * body and no id; the same request must land in the same turn.
 */
export function chatAddress(
  headers: IncomingHttpHeaders,
  chat: ChatRequest,
  principal: string,
  fresh: FreshSessions,
): ChatAddress {
  const key = idempotencyKey(headers["idempotency-key"]);
  const header = headerSession(headers[SESSION_HEADER]);
  const named = header || chat.user;
  const digest = (...parts: string[]): string => createHash("sha256").update(parts.join("\n")).digest("hex");
  if (named !== undefined && named !== "") {
    const session = namedSession(named, header ? "X-Troupe-Session" : "user");
    const messageId = key ?? `oai_${digest(session.text, chat.digest)}`;
    return { session, messageId, repeatable: true, derived: key === undefined, fresh: null };
  }
  if (key !== undefined) {
    // The key alone names the session too: any gateway gives a retry the same one.
    const session = sessionRef(`http:k_${digest(principal, key).slice(0, 32)}`);
    return { session, messageId: key, repeatable: true, derived: false, fresh: null };
  }
  const request = digest(principal, chat.model, chat.digest);
  const retry = Number(headers["x-stainless-retry-count"] ?? 0) > 0;
  const earlier = fresh.rejoin(request, retry);
  const session = sessionRef(earlier ?? `http:c_${randomBytes(16).toString("hex")}`);
  fresh.begin(request, session.text);
  const messageId = `oai_${digest(session.text, chat.digest)}`;
  return { session, messageId, repeatable: earlier !== undefined, derived: true, fresh: request };
}

function namedSession(text: string, param: string): SessionRef {
  try {
    return sessionRef(text);
  } catch (error) {
    if (!(error instanceof HttpProblem)) throw error;
    throw badRequest(param, error.code, error.message);
  }
}

function idempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined || header === "") return undefined;
  if (typeof header === "string" && header.length <= 512) return header;
  throw badRequest("Idempotency-Key", "invalid_key", "expected one key of at most 512 characters");
}

/**
 * A header holds printable ASCII only, so a session id is percent-encoded in it like in a URL's path.
 * Clients that write UTF-8 into the header all the same are understood.
 */
function headerSession(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const text = Buffer.from([header].flat()[0] ?? "", "latin1").toString("utf8");
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The other way round, for the answer. */
export function sessionHeader(session: string): string {
  return session.replace(/[^\x21-\x24\x26-\x7e]/gu, encodeURIComponent);
}
