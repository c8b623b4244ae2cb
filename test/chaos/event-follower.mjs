// A reader of a session's event stream who comes back with `Last-Event-ID` whenever the stream ends.
import { createParser } from "eventsource-parser";
import { setTimeout as delay } from "node:timers/promises";

const PAUSE_MS = 200;
/** A stream that is this silent is taken for dead; the gateway says something more often. */
const SILENCE_MS = 20_000;
const REACH_LIMIT_MS = 30_000;

export class EventFollower {
  /** Finals in the order in which they came: `{ seq, turn }`. */
  finals = [];
  /** Durable events that came again or out of order. */
  faults = [];
  #last = 0;
  #hangsUpAfter;
  #taken = 0;
  #hangUp = () => undefined;
  #over = new AbortController();
  #done;

  /** @param hangsUpAfter durable events after which it cuts the stream itself, again and again */
  constructor(client, session, { hangsUpAfter }) {
    this.#hangsUpAfter = hangsUpAfter;
    this.#done = this.#follow(client, session);
  }

  /** When the event with this sequence has come, or could have come long ago. */
  async reach(seq) {
    for (let waitedMs = 0; seq > this.#last && waitedMs < REACH_LIMIT_MS; waitedMs += PAUSE_MS) await delay(PAUSE_MS);
  }

  async close() {
    this.#over.abort();
    this.#hangUp();
    await this.#done;
  }

  async #follow(client, session) {
    while (!this.#over.signal.aborted) {
      const cut = new AbortController();
      this.#taken = 0;
      this.#hangUp = () => cut.abort();
      // Not left to the end of the reading: one that does not notice that it was cut would never end.
      const isCut = new Promise((resolve) => cut.signal.addEventListener("abort", resolve));
      await Promise.race([this.#read(client, session, cut), isCut]);
      cut.abort();
      if (!this.#over.signal.aborted) await delay(PAUSE_MS);
    }
  }

  async #read(client, session, cut) {
    let timer = setTimeout(() => cut.abort(), SILENCE_MS);
    try {
      const response = await client.events(session, this.#last, cut.signal);
      const parser = createParser({ onEvent: (event) => cut.signal.aborted || this.#take(event) });
      if (response.status !== 200) return;
      for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
        clearTimeout(timer);
        timer = setTimeout(() => cut.abort(), SILENCE_MS);
        parser.feed(part);
      }
    } catch {
      // Cut off: it comes back and resumes.
    } finally {
      clearTimeout(timer);
    }
  }

  #take({ id, event, data }) {
    if (id === undefined) return;
    const seq = Number(id);
    if (seq <= this.#last) this.faults.push(`event ${seq} after ${this.#last}`);
    this.#last = Math.max(this.#last, seq);
    if (++this.#taken >= this.#hangsUpAfter) this.#hangUp();
    if (event === "final") this.finals.push({ seq, turn: JSON.parse(data).turn });
  }
}
