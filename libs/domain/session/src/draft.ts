import {
  formatSessionId,
  type LogMessage,
  type Notice,
  type OutboxMessage,
  outboxSubject,
  type QueuedMessage,
  SCHEMA_VERSION,
  type SessionFields,
  type SessionKey,
  sessionOfKey,
  type Turn,
} from "@troupe/contracts";
import type { Decision, PublishEffect, RunEffect } from "@troupe/kernel";
import { type Ending, finalize } from "@troupe/response";
import type { SessionRun } from "./session-run.js";

/** Recent turns remembered for repeated client ids; the day-long memory is the `inbound` bucket. */
const MAX_RECENT = 64;
const MAX_CONTROLS = 16;

/** What the kernel adds to a message on its way out. */
type Unsent<M> = M extends unknown ? Omit<M, "id"> : never;

/** One decision in the making: fields that change, and effects that add up. */
export class Draft {
  fields: SessionFields;
  readonly key: SessionKey;
  readonly now: number;
  readonly #publish: PublishEffect[] = [];
  #run: RunEffect<SessionRun>[] = [];
  readonly #abort: string[] = [];

  constructor(key: SessionKey, fields: SessionFields, now: number) {
    this.key = key;
    this.fields = fields;
    this.now = now;
  }

  decision(): Decision<SessionFields, SessionRun> {
    const fields = { ...this.fields, updatedAt: this.now };
    return { fields, publish: this.#publish, run: this.#run, abort: this.#abort };
  }

  set(change: Partial<SessionFields>): void {
    this.fields = { ...this.fields, ...change };
  }

  setTurn(change: Partial<Turn>): void {
    if (this.fields.turn !== null) this.set({ turn: { ...this.fields.turn, ...change } });
  }

  append(...messages: LogMessage[]): void {
    const { log, messageCount } = this.fields;
    this.set({
      log: { ...log, tail: [...log.tail, ...messages] },
      messageCount: messageCount + messages.length,
    });
  }

  run(ref: string, body: SessionRun, sideEffect = false): void {
    this.#unstage([ref]);
    this.#run.push({ ref, sideEffect, body });
  }

  /** Ends runs by name, those of this very decision included. */
  abort(...refs: string[]): void {
    this.#unstage(refs);
    this.#abort.push(...refs);
  }

  #unstage(refs: readonly string[]): void {
    this.#run = this.#run.filter((effect) => !refs.includes(effect.ref));
  }

  publish(effect: PublishEffect): void {
    this.#publish.push(effect);
  }

  notice(notice: Notice): void {
    this.#toPerson({ ...this.#head(), kind: "notice", notice }, undefined);
  }

  /** Remembers a message from its acceptance on. */
  remember(message: Pick<QueuedMessage, "messageId" | "digest" | "turn">): void {
    const { messageId, digest, turn } = message;
    const open = this.fields.recent.filter((entry) => entry.final === null);
    const ended = this.fields.recent.filter((entry) => entry.final !== null);
    this.set({ recent: [...ended.slice(-MAX_RECENT), ...open, { messageId, digest, turn, final: null }] });
  }

  control(id: string, turn: string | null): void {
    const outcome = { id, turn, generation: this.fields.generation };
    this.set({ controls: [...this.fields.controls, outcome].slice(-MAX_CONTROLS) });
  }

  /** The one FINAL of a turn: log, memory of recent turns and OUTBOX in one commit. */
  end(turn: string, ending: Ending, trace: string | undefined): void {
    const { messageCount, generation } = this.fields;
    const { final, message, record } = finalize(ending, turn, { messageCount, generation, at: this.now });
    if (message !== null) this.append(message);
    const recent = this.fields.recent.map((entry) => (entry.turn === turn ? { ...entry, final: record } : entry));
    this.set({ recent });
    this.#toPerson({ ...this.#head(), kind: "final", final }, trace);
  }

  #head() {
    const session = sessionOfKey(this.key);
    const { generation } = this.fields;
    return { v: SCHEMA_VERSION, session: session === undefined ? this.key : formatSessionId(session.id), generation };
  }

  #toPerson(body: Unsent<OutboxMessage>, trace: string | undefined): void {
    this.publish({ subject: outboxSubject(this.key), body, trace });
  }
}
