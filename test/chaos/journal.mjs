// What happened when, for whoever has to find out why a figure is not 0. Also the order of things: each entry has a number.

const KEPT_PER_SESSION = 400;

export class Journal {
  #startedAt = performance.now();
  #blows = [];
  #sessions = new Map();
  #tick = 0;

  /** The next number in the order of all that is seen by this process. */
  tick() {
    return ++this.#tick;
  }

  get ageMs() {
    return Math.round(performance.now() - this.#startedAt);
  }

  blow(text) {
    this.#blows.push(this.#line(text));
  }

  note(session, text) {
    const lines = this.#sessions.get(session) ?? [];
    lines.push(this.#line(text));
    if (lines.length > KEPT_PER_SESSION) lines.shift();
    this.#sessions.set(session, lines);
  }

  /** What happened to a session is of no interest any more. */
  forget(session) {
    this.#sessions.delete(session);
  }

  /** A session's own events and all blows, in the order of time. */
  around(session, { from = 0, to = Infinity } = {}) {
    return [...(this.#sessions.get(session) ?? []), ...this.#blows]
      .filter(({ at }) => at >= from && at <= to)
      .sort((a, b) => a.at - b.at)
      .map(({ at, text }) => `${(at / 1_000).toFixed(3).padStart(9)} ${text}`);
  }

  #line(text) {
    return { at: this.ageMs, text: `${new Date().toISOString().slice(11, 23)} ${text}` };
  }
}
