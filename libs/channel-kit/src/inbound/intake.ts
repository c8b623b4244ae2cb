import { randomBytes } from "node:crypto";
import {
  Cancel,
  type Channel as ChannelName,
  encode,
  formatSessionId,
  mailSubject,
  MAX_TEXT_LENGTH,
  parseSessionId,
  Reset,
  SCHEMA_VERSION,
  type SessionKey,
  turnIdOf,
} from "@troupe/contracts";
import type { MailSender } from "@troupe/jetstream";
import { newTrace } from "@troupe/platform";
import type { HeardMessage, Intake, Taken } from "../channel.js";
import { IntakeRefusal } from "./intake-refusal.js";
import type { MessageInbox } from "./message-inbox.js";

const SCHEMAS = { cancel: Cancel, reset: Reset } as const;
const MAX_ID_LENGTH = 512;

export interface IntakePorts {
  readonly channel: ChannelName;
  readonly inbox: Pick<MessageInbox, "accept">;
  readonly mail: Pick<MailSender, "send">;
  /** A turn's message is about to be sent in; the result takes it back, when the message was not new. */
  readonly onExpected: (key: SessionKey, turn: string) => () => void;
}

/** The intake of one channel: what it hears becomes mail of its own sessions, and of no others. */
export function channelIntake({ channel, inbox, mail, onExpected }: IntakePorts): Intake {
  const keyOf = (conversation: string): SessionKey => {
    const parsed = parseSessionId(formatSessionId({ channel, conversation }));
    if (!parsed.ok) throw new IntakeRefusal("invalid", parsed.reason);
    return parsed.key;
  };

  const accept = async ({ conversation, messageId, text, principal }: HeardMessage): Promise<Taken> => {
    const key = keyOf(conversation);
    const problem = problemOf(messageId, text);
    if (problem !== undefined) throw new IntakeRefusal("invalid", problem);
    // Watched before the message is sent, so that no word of the answer is missed.
    const forget = onExpected(key, turnIdOf(key, messageId));
    try {
      const { turn, duplicate } = await inbox.accept({
        session: { key },
        origin: "in",
        messageId,
        repeatable: true,
        text,
        introduce: true,
        principal,
        traceparent: newTrace().traceparent,
      });
      if (duplicate) forget();
      return { turn, duplicate };
    } catch (error) {
      forget();
      throw error;
    }
  };

  return {
    accept,
    control: async (conversation, kind, principal) => {
      const id = `c_${randomBytes(16).toString("hex")}`;
      const body = encode(SCHEMAS[kind], { v: SCHEMA_VERSION, id, kind, principal });
      await mail.send({ subject: mailSubject("session", keyOf(conversation), "in"), id, body });
    },
  };
}

function problemOf(messageId: string, text: string): string | undefined {
  if (messageId === "" || messageId.length > MAX_ID_LENGTH) return `a message id has 1 to ${MAX_ID_LENGTH} characters`;
  if (text === "") return "the message is empty";
  if (text.length > MAX_TEXT_LENGTH) return `the message is over ${MAX_TEXT_LENGTH} characters`;
  if (!text.isWellFormed() || !messageId.isWellFormed()) return "the message holds half of a surrogate pair";
  return undefined;
}
