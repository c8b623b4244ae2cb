import { type LiveEvent, SCHEMA_VERSION, type SessionKey, wholeCharacter } from "@troupe/contracts";
import type { LivePublisher } from "@troupe/jetstream";

/**
 * Says on `live` what happens in a turn. Previews only: whoever listens may miss any of it (K5).
 * Deltas of one attempt are counted without gaps, over all its steps; the progress of a tool says how many there were.
 */
type Said<K extends LiveEvent["kind"]> = Extract<LiveEvent, { kind: K }>["data"];

/** In UTF-16 units; at most 400,000 bytes. */
const MAX_DELTA_LENGTH = 64 * 1024;

/** Turns whose count is remembered; one that falls out starts a new count, which receivers take for a gap. */
const MAX_TURNS = 10_000;

/** How far the previews of a turn have come under one owner. */
interface Place {
  readonly attempt: number;
  /** The number of the next delta. */
  readonly seq: number;
}

export class TurnVoice {
  readonly #live: LivePublisher;
  readonly #places = new Map<string, Place>();
  #serial = 0;

  constructor(live: LivePublisher) {
    this.#live = live;
  }

  /** A model may say a megabyte at once: what no message can hold is said in parts. */
  delta(key: SessionKey, epoch: number, said: Omit<Said<"delta">, "seq">): void {
    const { text } = said;
    for (let from = 0; from < text.length; ) {
      const to = wholeCharacter(text, Math.min(text.length, from + MAX_DELTA_LENGTH));
      this.#delta(key, epoch, { ...said, text: text.slice(from, to) });
      from = to;
    }
  }

  #delta(key: SessionKey, epoch: number, said: Omit<Said<"delta">, "seq">): void {
    const { turn, attempt } = said;
    const place = this.#placeOf(turn, epoch);
    const seq = place.attempt === attempt ? place.seq : 0;
    this.#move(turn, epoch, { attempt, seq: seq + 1 });
    this.#say(key, { kind: "delta", epoch, data: { ...said, seq } });
  }

  reset(key: SessionKey, epoch: number, data: Said<"reset">): void {
    this.#move(data.turn, epoch, { attempt: data.attempt, seq: 0 });
    this.#say(key, { kind: "reset", epoch, data });
  }

  tool(key: SessionKey, epoch: number, said: Omit<Said<"tool">, keyof Place>): void {
    this.#say(key, { kind: "tool", epoch, data: { ...said, ...this.#placeOf(said.turn, epoch) } });
  }

  #placeOf(turn: string, epoch: number): Place {
    return this.#places.get(`${turn}#${epoch}`) ?? { attempt: 1, seq: 0 };
  }

  #move(turn: string, epoch: number, place: Place): void {
    const name = `${turn}#${epoch}`;
    this.#places.delete(name);
    this.#places.set(name, place);
    this.#forgetOldest();
  }

  #say(key: SessionKey, event: Omit<LiveEvent, "v" | "id">): void {
    this.#serial += 1;
    this.#live.publish(key, JSON.stringify({ v: SCHEMA_VERSION, id: `l_${this.#serial}`, ...event }));
  }

  #forgetOldest(): void {
    const oldest = this.#places.keys().next();
    if (this.#places.size > MAX_TURNS && !oldest.done) this.#places.delete(oldest.value);
  }
}
