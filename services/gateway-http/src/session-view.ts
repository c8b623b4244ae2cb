import { formatSessionId, type LogMessage, type SessionEntry, sessionOfKey, type Turn } from "@troupe/contracts";
import { messagesBetween, type ReadSegment, wholeMessages } from "@troupe/history";
import type { BlobStore } from "@troupe/jetstream";
import type { LoadedSession, SessionRef } from "./session-access.js";

/** Milliseconds since the epoch as ISO 8601, UTC, with milliseconds. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}

function turnView(turn: Turn | null) {
  if (turn === null) return null;
  return { id: turn.id, status: turn.status, since: isoTime(turn.since), steps: turn.steps };
}

/** `GET /v1/sessions/{s}`. A lease that has run out is nobody's. */
export function sessionView(session: string, loaded: LoadedSession, now: number) {
  const { revision, lease, fields, queued } = loaded;
  return {
    session,
    revision,
    generation: fields.generation,
    messageCount: fields.messageCount,
    lastConsolidated: fields.lastConsolidated,
    queued,
    lease: lease === null || lease.until <= now ? null : { owner: lease.owner, until: isoTime(lease.until) },
    turn: turnView(fields.turn),
    createdAt: isoTime(fields.createdAt),
    updatedAt: isoTime(fields.updatedAt),
  };
}

/** One line of `GET /v1/sessions`; null for what is no session or is erased. */
export function sessionListItem(key: string, entry: SessionEntry) {
  const known = sessionOfKey(key);
  if (known === undefined || entry.fields.erased) return null;
  return {
    session: formatSessionId(known.id),
    messageCount: entry.fields.messageCount,
    updatedAt: isoTime(entry.fields.updatedAt),
    turn: turnView(entry.fields.turn),
  };
}

/** A page ends before it is longer than this, in UTF-16 units of contents: it is built in memory. */
const MAX_PAGE_LENGTH = 4 * 1024 * 1024;

export interface MessagesQuery {
  readonly range: { readonly from: number; readonly limit: number };
  readonly read: ReadSegment;
  readonly blobs: Pick<BlobStore, "get">;
}

/** `GET /v1/sessions/{s}/messages`: the log from an absolute index on; `next` is null at its end. */
export async function messagesView(
  session: SessionRef,
  { fields }: Pick<LoadedSession, "fields">,
  { range, read, blobs }: MessagesQuery,
) {
  const { log, generation } = fields;
  const { key, text } = session;
  const total = log.from + log.tail.length;
  const from = Math.min(range.from, total);
  const to = Math.min(from + range.limit, total);
  const page = firstOf(await messagesBetween({ ...log, key, generation }, { from, to }, read), MAX_PAGE_LENGTH);
  const next = from + page.length;
  const messages = await wholeMessages(page, ({ blob }) => blobs.get({ key, generation }, blob));
  return {
    session: text,
    generation,
    from,
    next: next < total ? next : null,
    total,
    messages: messages.map((message, place) => messageView(message, from + place)),
  };
}

/** As many as fit, at least one. */
function firstOf(messages: readonly LogMessage[], length: number): readonly LogMessage[] {
  let left = length;
  const end = messages.findIndex(({ content, rest }, place) => {
    left -= (content?.length ?? 0) + (rest?.length ?? 0);
    return left < 0 && place > 0;
  });
  return end < 0 ? messages : messages.slice(0, end);
}

function messageView(message: LogMessage, index: number) {
  const head = { index, turn: message.turn, at: isoTime(message.at) };
  switch (message.role) {
    case "user":
      return { ...head, role: message.role, content: message.content };
    case "assistant": {
      const { role, content, tool_calls } = message;
      const calls = tool_calls === undefined || tool_calls.length === 0 ? {} : { tool_calls };
      return { ...head, role, content, ...calls, ...(message.failed ? { failed: true } : {}) };
    }
    case "tool": {
      const { role, tool_call_id, content, isError, blob } = message;
      return { ...head, role, tool_call_id, content, isError, blob };
    }
  }
}
