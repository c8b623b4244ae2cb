import type { Channel as ChannelName } from "@troupe/contracts";

/**
 * What a channel's author writes: three functions. The rest of a channel's gateway, from deduplication to the delivery
 * ledger, is the kit's.
 */
export interface Channel {
  /** The part before the colon in the ids of its sessions. */
  readonly name: ChannelName;
  /**
   * `harmless`: the channel shows a reply once however often it is sent under the same `id`, because it takes an
   * idempotency key, or the reply is an edit of a message that is there. `unsafe`: it may show it twice.
   */
  readonly resend: "harmless" | "unsafe";
  /**
   * Hears what people say and hands each message to the intake, until the signal aborts; resolves when nothing more can
   * come. It tells the outside that a message has been taken only after `accept` has resolved; when that rejects with
   * anything but a refusal for good, the outside shall repeat the message, under the same id.
   */
  listen(intake: Intake, signal: AbortSignal): Promise<void>;
  /**
   * Sends one reply. It says `not-sent` only when the outside surely has not got it: a connection that was refused, a
   * request that was answered with "later". A throw, or what is no outcome, counts as `unknown`.
   *
   * @param signal aborts when the send takes too long; what comes of it then is `unknown`
   */
  send(reply: Reply, signal: AbortSignal): Promise<SendOutcome>;
  /**
   * Shows the answer as far as it has come, or does nothing. Called with the whole text so far, not often, and never
   * again for a turn whose reply is being sent. A preview is no evidence of anything: failures are of no account.
   */
  preview(preview: PreviewText, signal: AbortSignal): Promise<void>;
}

export interface Conversation {
  /** `<channel>:<conversation>`. */
  readonly session: string;
  /** As the channel named it to the intake. */
  readonly conversation: string;
}

export interface Reply extends Conversation {
  /** The same in every attempt: an idempotency key. */
  readonly id: string;
  readonly turn: string | null;
  readonly kind: "answer" | "error" | "cancelled" | "notice";
  /** The whole text. It replaces any preview. */
  readonly text: string;
  /** From 1 on. */
  readonly attempt: number;
}

export interface PreviewText extends Conversation {
  readonly turn: string;
  readonly text: string;
}

export type SendOutcome =
  /** It is shown; `receipt` is the outside's name for it, if there is one. */
  | { readonly kind: "delivered"; readonly receipt?: string }
  /** It is surely not shown, and may be later: tried again after that time at the soonest, or when the kit thinks fit. */
  | { readonly kind: "not-sent"; readonly reason: string; readonly retryAfterMs?: number }
  /** It is not shown and never will be: the person has left, the text is refused. */
  | { readonly kind: "rejected"; readonly reason: string }
  /** Nobody can tell. */
  | { readonly kind: "unknown"; readonly reason: string };

export interface HeardMessage {
  readonly conversation: string;
  /** The outside's own id of the message: what a repetition is recognised by, for at least 24 hours. */
  readonly messageId: string;
  readonly text: string;
  /** Who says it, as the channel knows them. */
  readonly principal: string;
}

export interface Taken {
  readonly turn: string;
  /** It was taken before: nothing new happens. */
  readonly duplicate: boolean;
}

/** Where a channel hands in what it hears. */
export interface Intake {
  /**
   * Resolves when the message is stored for good, once however often it is repeated.
   *
   * @throws IntakeRefusal when it can never be taken, IntakePause when the same message may be repeated; the sentence of
   * either may be told to the outside
   */
  accept(message: HeardMessage): Promise<Taken>;
  /** Cancels what runs in a conversation, or begins it anew. Repeating it is the caller's affair. Throws as `accept` does. */
  control(conversation: string, kind: "cancel" | "reset", principal: string): Promise<void>;
}
