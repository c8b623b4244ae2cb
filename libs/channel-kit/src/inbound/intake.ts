import { randomBytes } from "node:crypto";
import {
  Cancel,
  type Channel as ChannelName,
  encode,
  formatSessionId,
  mailSubject,
  parseSessionId,
  Reset,
  SCHEMA_VERSION,
  type SessionKey,
  turnIdOf,
} from "@troupe/contracts";
import { type MailSender, StreamFull, TooLarge } from "@troupe/jetstream";
import { newTrace } from "@troupe/platform";
import type { HeardMessage, Intake, Taken } from "../channel.js";
import { checkControl, checkHeard } from "./intake-check.js";
import { IntakePause } from "./intake-pause.js";
import { IntakeRefusal } from "./intake-refusal.js";
import type { MessageInbox } from "./message-inbox.js";

const SCHEMAS = { cancel: Cancel, reset: Reset } as const;

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

  const accept = async (message: HeardMessage): Promise<Taken> => {
    const { conversation, messageId, text, principal } = checkHeard(message);
    const key = keyOf(conversation);
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
      throw refusalOf(error);
    }
  };

  return {
    accept,
    control: async (...said) => {
      const { conversation, kind, principal } = checkControl({
        conversation: said[0],
        kind: said[1],
        principal: said[2],
      });
      const id = `c_${randomBytes(16).toString("hex")}`;
      const body = encode(SCHEMAS[kind], { v: SCHEMA_VERSION, id, kind, principal });
      const subject = mailSubject("session", keyOf(conversation), "in");
      await mail.send({ subject, id, body }).catch((error: unknown) => {
        throw refusalOf(error);
      });
    },
  };
}

/** What the channel may tell the outside; what has happened inside is the cause. */
function refusalOf(cause: unknown): IntakeRefusal | IntakePause {
  if (cause instanceof IntakeRefusal) return cause;
  if (cause instanceof TooLarge)
    return new IntakeRefusal("invalid", `the message is over ${cause.limit} bytes`, { cause });
  const why =
    cause instanceof StreamFull
      ? "there is no room for more messages at the moment"
      : "the message system cannot be reached at the moment";
  return new IntakePause(`${why}; the message may be repeated under the same id`, { cause });
}
