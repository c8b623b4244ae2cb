import type { Final, SessionState } from "./api-answer.js";
import type { ChatEvent } from "./chat-event.js";
import type { HistoryPage } from "./history-page.js";
import { type OutgoingMessage, TurnRecord } from "./turn-record.js";

/** Turns without an end that are read again: older ones will not get any. */
const OPEN_TURNS = 3;

/**
 * A conversation as this page knows it. The log, the stream and the person's own sending tell of the same turns, in any
 * order and more than once.
 *
 * T1 A turn is shown once, whoever told of it first, and has one final.
 * T2 What the log says takes the place of what the stream said.
 * T3 What comes of a turn after its final is ignored.
 */
export class Transcript {
  #turns: TurnRecord[] = [];
  #generation: number | null = null;
  /** Index of the oldest message loaded. */
  #first = 0;
  /** Index after the newest. */
  #next = 0;
  #hasOlder = false;
  /** Messages that wait in the session, those of others included. */
  #queued = 0;

  /** In the order in which they are shown. */
  get turns(): readonly TurnRecord[] {
    return this.#turns;
  }

  get first(): number {
    return this.#first;
  }

  /** Whether there are older messages than those loaded. */
  get hasOlder(): boolean {
    return this.#hasOlder;
  }

  /** Whether an answer is still to come. */
  get busy(): boolean {
    return this.#turns.some(({ active }) => active);
  }

  /** Messages waiting that this page did not write. */
  get queuedElsewhere(): number {
    const own = this.#turns.filter(({ outgoing, active, running }) => outgoing !== null && active && !running);
    return Math.max(0, this.#queued - own.length);
  }

  /** Where to read the log from so that every turn that is not over is renewed. */
  get readFrom(): number {
    const open = this.#turns.filter(({ ended }) => !ended).map(({ firstIndex }) => firstIndex);
    return Math.min(this.#next, ...open.slice(-OPEN_TURNS));
  }

  write(message: OutgoingMessage): void {
    this.#turns.push(new TurnRecord(null, message));
    this.#arrange();
  }

  /** What is refused is not waited for. */
  sending({ id, state }: OutgoingMessage): void {
    const record = this.#turns.find(({ outgoing }) => outgoing?.id === id);
    if (record !== undefined) record.active = state !== "failed" && !record.ended;
    this.#arrange();
  }

  /** The gateway has taken a message; two records of one turn become one. */
  accepted(message: OutgoingMessage, turn: string): void {
    const own = this.#turns.find(({ outgoing }) => outgoing?.id === message.id);
    if (own === undefined || own.turn === turn) return;
    const told = this.#turns.find((other) => other.turn === turn);
    own.turn = turn;
    if (told !== undefined) {
      own.absorb(told);
      this.#turns = this.#turns.filter((other) => other !== told);
    }
    this.#arrange();
  }

  /** Forgets a message that was never sent. */
  withdraw(id: string): void {
    this.#turns = this.#turns.filter(({ outgoing }) => outgoing?.id !== id);
    this.#arrange();
  }

  /** @returns whether the event told of something that only the log can explain */
  receive(event: ChatEvent): boolean {
    if (event.kind === "final") return this.finish(event.final);
    const record = event.turn === null ? this.#turns.at(-1) : this.#record(event.turn);
    if (record === undefined || record.ended) return false;
    record.active = true;
    const unknown = !record.hasQuestion;
    switch (event.kind) {
      case "delta":
        record.live.append(event);
        break;
      case "reset":
        record.live.reset(event.attempt);
        break;
      case "tool":
        record.live.tool(event);
        break;
      case "notice":
        record.notice(event.text);
    }
    this.#arrange();
    return unknown || event.kind === "reset";
  }

  /** @returns whether it was news */
  finish(final: Final): boolean {
    const record = this.#record(final.turn);
    if (record.final !== null) return false; // T1
    record.final = final;
    record.active = false;
    record.live.end();
    this.#arrange();
    return true;
  }

  /** @returns false when the log is another one than before: then it has to be read anew */
  readState({ generation, turn, queued }: SessionState): boolean {
    this.#queued = queued;
    if (this.#generation !== null && this.#generation !== generation) return false;
    this.#generation = generation;
    for (const record of this.#turns) {
      const onItsWay = record.outgoing !== null && record.outgoing.state !== "failed";
      record.active = !record.ended && (record.turn === turn || onItsWay);
    }
    if (turn !== null) {
      const record = this.#record(turn);
      record.active = !record.ended;
    }
    this.#arrange();
    return true;
  }

  /**
   * Takes in a part of the log.
   *
   * @param olderFrom from where it was asked for, when it is the oldest part so far
   */
  readLog({ messages, from, generation }: HistoryPage, olderFrom: number | null = null): void {
    if (this.#generation !== null && this.#generation !== generation) return;
    for (const message of messages) this.#record(message.turn).add(message);
    for (const record of this.#turns) record.settle();
    const last = messages.at(-1);
    this.#next = Math.max(this.#next, last === undefined ? 0 : last.index + 1);
    if (olderFrom !== null) {
      this.#first = from;
      // A log that begins later than was asked for has no more.
      this.#hasOlder = from > 0 && from === olderFrom;
    }
    this.#arrange();
  }

  #record(turn: string): TurnRecord {
    const known = this.#turns.find((record) => record.turn === turn);
    if (known !== undefined) return known;
    const record = new TurnRecord(turn);
    this.#turns.push(record);
    return record;
  }

  /** In the order of the log; what is not in it yet comes last, in the order in which it was learnt of. */
  #arrange(): void {
    this.#turns.sort((one, other) => one.place - other.place);
    const running = this.#turns.find(({ active }) => active);
    for (const record of this.#turns) record.running = record === running;
  }
}
