import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { SessionKey } from "./session-id.js";

/** SHA-256 of a text's UTF-8 bytes, lower-case hex. */
export function digestOf(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}

/**
 * A turn's one id, derived from the inbound message, so that any process that sees the message
 * again names the same turn. 128 bits of SHA-256 over key and client id.
 */
export function turnIdOf(key: SessionKey, messageId: string): string {
  return `t_${digestOf(`${key}\n${messageId}`).slice(0, 32)}`;
}

/** The reply's one id, derived from the turn; the delivery ledger is keyed by it. */
export function replyIdOf(turn: string): string {
  return `r_${turn.slice(2)}`;
}
