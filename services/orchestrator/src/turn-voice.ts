import { type LiveEvent, SCHEMA_VERSION, type SessionKey, wholeCharacter } from "@troupe/contracts";
import type { LivePublisher } from "@troupe/jetstream";

/**
 * Says on `live` what happens in a turn. Previews only: whoever listens may miss any of it (K5).
 * Deltas of one attempt are counted without gaps, over all its steps.
 */
type Said<K extends LiveEvent["kind"]> = Extract<LiveEvent, { kind: K }>["data"];

/** In UTF-16 units; at most 400,000 bytes. */
const MAX_DELTA_LENGTH = 64 * 1024;

/** Turns whose count is remembered; one that falls out starts a new count, which receivers take for a gap. */
const MAX_TURNS = 10_000;

export class TurnVoice {
  readonly #live: LivePublisher;
  readonly #counts = new Map<string, number>();
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
    const name = `${said.turn}#${epoch}#${said.attempt}`;
    const seq = this.#counts.get(name) ?? 0;
    this.#counts.delete(name);
    this.#counts.set(name, seq + 1);
    this.#forgetOldest();
    this.#say(key, { kind: "delta", epoch, data: { ...said, seq } });
  }

  reset(key: SessionKey, epoch: number, data: Said<"reset">): void {
    this.#say(key, { kind: "reset", epoch, data });
  }

  tool(key: SessionKey, epoch: number, data: Said<"tool">): void {
    this.#say(key, { kind: "tool", epoch, data });
  }

  #say(key: SessionKey, event: Omit<LiveEvent, "v" | "id">): void {
    this.#serial += 1;
    this.#live.publish(key, JSON.stringify({ v: SCHEMA_VERSION, id: `l_${this.#serial}`, ...event }));
  }

  #forgetOldest(): void {
    const oldest = this.#counts.keys().next();
    if (this.#counts.size > MAX_TURNS && !oldest.done) this.#counts.delete(oldest.value);
  }
}
