import type { Listed } from "./entry.js";
import type { MailItem, MailOrigin } from "./ports.js";

/**
 * An actor, the one of a key, is one pure, synchronous function over its own fields. It never awaits, reads no clock
 * and draws no random number, so every decision can be replayed and simulated.
 *
 * Runs and timers are named by a `ref` of the actor's own choice, unique among those outstanding;
 * their ids (K3) are the kernel's business and never seen here.
 */

/** Where a mail is read: `cut` is control mail that also ends earlier user mail not yet handled (K2). */
export type Lane = "user" | "control" | "cut";

export type DecodedMail<M> =
  | { readonly kind: "ok"; readonly mail: M; readonly lane: Lane }
  /** `work` and `self` mail: it answers something that the state lists under this name. */
  | { readonly kind: "answer"; readonly mail: M; readonly answers: string }
  /** Written by a newer service: left to others. */
  | { readonly kind: "newer"; readonly version: number }
  | { readonly kind: "invalid"; readonly reason: string };

export interface RunNote<R> {
  readonly ref: string;
  readonly body: R;
}

export type Input<M, R, O> =
  | {
      readonly kind: "mail";
      readonly seq: number;
      readonly origin: MailOrigin;
      readonly at: number;
      readonly mail: M;
      /** User mail that a later cancel or reset has ended: it gets its final and starts nothing (K2). */
      readonly cut: boolean;
    }
  | { readonly kind: "result"; readonly run: RunNote<R>; readonly outcome: O }
  /** Another owner had these runs under way; their outcome is unknown (K6). */
  | { readonly kind: "resumed"; readonly runs: readonly RunNote<R>[] }
  | { readonly kind: "timer"; readonly ref: string; readonly body: unknown };

/** A durable message. The kernel adds its `id` to the body (K3). */
export interface PublishEffect {
  readonly subject: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** W3C traceparent for the header. */
  readonly trace?: string | undefined;
}

export interface RunEffect<R> extends RunNote<R> {
  /** Whether doing it twice could be noticed outside: such a run starts only on a lease that surely holds (K5). */
  readonly sideEffect: boolean;
}

export type TimerEffect =
  | { readonly kind: "arm"; readonly ref: string; readonly at: number; readonly body: unknown }
  | { readonly kind: "disarm"; readonly ref: string };

export interface Decision<F, R> {
  readonly fields: F;
  readonly publish?: readonly PublishEffect[];
  readonly run?: readonly RunEffect<R>[];
  /** Refs of runs that shall end; a result of theirs is ignored. */
  readonly abort?: readonly string[];
  readonly timers?: readonly TimerEffect[];
}

export interface Sealing<F> {
  readonly fields: F;
  readonly segments: readonly { readonly name: string; readonly text: string }[];
}

/** What a commit is about to write, as far as its size is the actor's. */
export interface Weight<F, R> {
  readonly fields: F;
  readonly outstanding: readonly Listed<R>[];
}

export interface Offloaded<F, R> extends Weight<F, R> {
  /** To be stored before the commit that names them. */
  readonly blobs: readonly { readonly name: string; readonly text: string }[];
}

export interface Actor<F, M, R, O> {
  /** Version of the fields' form; an entry of a higher one is left to newer services. */
  readonly schema: number;
  initial(now: number): F;
  /** Reads stored fields, upgrading older forms. Throws on what no version ever wrote. */
  decodeFields(value: unknown, schema: number): F;
  decodeMail(item: MailItem): DecodedMail<M>;
  /** Whether no more user mail fits in the state now; it then waits in the mailbox (K12). */
  full(fields: F): boolean;
  /** Moves the older part of a state that has grown into segments, which the next commit then names (K12). */
  seal(fields: F): Sealing<F> | undefined;
  /**
   * Puts names in place of what is too large for the entry or for a message (K12); undefined: nothing is. The names are
   * made from the content, so that a commit that was refused leaves nothing but what the next one names again.
   */
  offload?(weight: Weight<F, R>): Offloaded<F, R> | undefined;
  /** Whether the state lists what this `work` mail answers. Timers are listed by the kernel. */
  expects(fields: F, answers: string): boolean;
  receive(fields: F, input: Input<M, R, O>, now: number): Decision<F, R>;
  /** What to do with an input that failed three times (K11) or led to more than fits (K12): an honest final, a dead letter. */
  onPoison(fields: F, input: Input<M, R, O>, reason: string, now: number): Decision<F, R>;
  /**
   * For an input that ends without a trace because the state or the decision of `onPoison` is larger than
   * the store takes (K12): what little can still be said, such as a final, with fields no larger than they are.
   */
  lastWord?(fields: F, input: Input<M, R, O>, now: number): Decision<F, R>;
  /** The dead letter for mail that cannot be read or handled. */
  deadLetter(item: MailItem, reason: string): PublishEffect;
  /** Where a timer's schedule is put, and where it fires; `timer` is a token. */
  timerSubject(timer: string): string;
  /** The message that a firing delivers; the kernel adds the timer's id. */
  timerBody(body: unknown): Readonly<Record<string, unknown>>;
  selfSubject(): string;
}
