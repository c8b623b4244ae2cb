import { decodeToken, encodeToken } from "./token.js";

/** Channels that exist as gateways or may be addressed; a session id names one before its first colon. */
export const CHANNELS = ["http", "cli", "webhook", "cron", "telegram"] as const;
export type Channel = (typeof CHANNELS)[number];

/** What the outside calls a conversation: `<channel>:<conversation>`, as the person's client wrote it. */
export interface SessionId {
  readonly channel: Channel;
  readonly conversation: string;
}

/**
 * The inside name of a conversation: two NATS-safe tokens, `<channel>.<conversation>`. Two tokens,
 * so that permissions can hold a gateway to its own channel everywhere.
 */
export type SessionKey = string & { readonly __brand: "SessionKey" };

export type SessionIdResult =
  | { readonly ok: true; readonly id: SessionId; readonly key: SessionKey; readonly text: string }
  | { readonly ok: false; readonly reason: string };

export function isChannel(text: string): text is Channel {
  return (CHANNELS as readonly string[]).includes(text);
}

/** Reads a session id; text whose part before the first colon is no known channel means `http:<text>`. */
export function parseSessionId(text: string): SessionIdResult {
  const colon = text.indexOf(":");
  const head = colon < 0 ? "" : text.slice(0, colon);
  const id: SessionId = isChannel(head)
    ? { channel: head, conversation: text.slice(colon + 1) }
    : { channel: "http", conversation: text };
  const token = encodeToken(id.conversation);
  if (!token.ok) return { ok: false, reason: `session id ${token.reason}` };
  return { ok: true, id, key: `${id.channel}.${token.token}` as SessionKey, text: formatSessionId(id) };
}

/** The full form, `<channel>:<conversation>`. */
export function formatSessionId(id: SessionId): string {
  return `${id.channel}:${id.conversation}`;
}

/** The session behind a key, or undefined when the key is not one that `parseSessionId` makes. */
export function sessionOfKey(key: string): { readonly id: SessionId; readonly key: SessionKey } | undefined {
  const dot = key.indexOf(".");
  if (dot < 0) return undefined;
  const channel = key.slice(0, dot);
  const conversation = decodeToken(key.slice(dot + 1));
  if (!isChannel(channel) || conversation === undefined) return undefined;
  return { id: { channel, conversation }, key: key as SessionKey };
}
