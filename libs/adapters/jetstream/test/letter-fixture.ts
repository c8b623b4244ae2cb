import {
  DeadLetter,
  type DeadKind,
  deadSubject,
  digestOf,
  encode,
  mailSubject,
  type SessionKey,
  turnIdOf,
  UserMessage,
} from "@troupe/contracts";
import { type Bus, mailSender } from "../src/index.js";

/** Puts a text into DEAD; resolves to its sequence there. */
export async function putDead(bus: Bus, kind: DeadKind, key: SessionKey, text: string): Promise<number> {
  const { seq } = await mailSender(bus).send({ subject: deadSubject(kind, key), id: crypto.randomUUID(), body: text });
  return seq;
}

/** The mail of a person, as the gateway sends it. */
export function userMail(key: SessionKey, messageId: string, text: string): UserMessage {
  const turn = turnIdOf(key, messageId);
  const head = { v: 1, id: `${key}:${turn}`, kind: "user", turn, messageId, principal: "owner" } as const;
  return { ...head, digest: digestOf(text), text, introduce: true, trace: "00-1-2-01" };
}

/** A letter as text; without more, dead mail of a person. */
export function letterText(key: SessionKey, id: string, more: Partial<DeadLetter> = {}): string {
  const kind = more.kind ?? "mail";
  const body = encode(UserMessage, userMail(key, "m1", "hello"));
  const letter = { v: 1, id, kind, subject: mailSubject("session", key, "in"), seq: 7, reason: "why", body };
  return encode(DeadLetter, { ...letter, ...more });
}
