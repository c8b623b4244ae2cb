import { type Channel, sessionOfKey } from "@troupe/contracts";
import type { SessionReader } from "@troupe/jetstream";
import type { Logger } from "@troupe/platform";
import { HttpProblem } from "./problem.js";
import { readEntry } from "@troupe/channel-kit";
import { sessionListItem } from "./session-view.js";

/** Entries read at the same time for one page. */
const PARALLEL_READS = 16;

export type SessionListItem = NonNullable<ReturnType<typeof sessionListItem>>;

/** The place after a key, as clients carry it around. */
export function encodeCursor(key: string): string {
  return Buffer.from(key).toString("base64url");
}

/** @throws HttpProblem 422 for what {@link encodeCursor} did not make */
export function decodeCursor(cursor: string): string {
  const key = Buffer.from(cursor, "base64url").toString();
  if (/^[a-z]+\.[A-Za-z0-9_=-]+$/.test(key) && encodeCursor(key) === cursor) return key;
  const message = "expected a cursor as `next` gave it";
  throw new HttpProblem(422, "invalid_field", `cursor: ${message}`, {
    errors: [{ path: "cursor", message }],
  });
}

/**
 * One page of sessions in the order of their keys. Erased ones do not count, so a page is filled from
 * as many reads as it takes; it is short only at the end.
 */
export async function listSessions(
  sessions: SessionReader,
  page: { readonly channel?: Channel | undefined; readonly after?: string | undefined; readonly limit: number },
  log: Logger,
): Promise<{ sessions: SessionListItem[]; next: string | null }> {
  const found: SessionListItem[] = [];
  let { after } = page;
  while (found.length < page.limit) {
    const limit = page.limit - found.length;
    const keys = await sessions.keys({
      limit,
      ...(page.channel === undefined ? {} : { channel: page.channel }),
      ...(after === undefined ? {} : { after }),
    });
    found.push(...(await readItems(sessions, keys, log)));
    after = keys.at(-1) ?? after;
    if (keys.length < limit) return { sessions: found, next: null };
  }
  return { sessions: found, next: after === undefined ? null : encodeCursor(after) };
}

async function readItems(sessions: SessionReader, keys: readonly string[], log: Logger): Promise<SessionListItem[]> {
  const items: SessionListItem[] = [];
  for (let start = 0; start < keys.length; start += PARALLEL_READS) {
    const batch = keys.slice(start, start + PARALLEL_READS);
    const read = await Promise.all(batch.map((key) => readItem(sessions, key, log)));
    items.push(...read.filter((item) => item !== null));
  }
  return items;
}

async function readItem(sessions: SessionReader, key: string, log: Logger): Promise<SessionListItem | null> {
  const known = sessionOfKey(key);
  const stored = known === undefined ? null : await sessions.read(known.key);
  if (stored === null) return null;
  const read = readEntry(stored.text);
  if (read.kind === "ok") return sessionListItem(key, read.entry);
  // One bad entry must not take the list away.
  log.warn({ key, why: read.kind }, "left out of the list of sessions");
  return null;
}
