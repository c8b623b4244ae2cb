// Finds takeovers in the revisions of sessions: commits that go on with what another process had under way.

export class Takeovers {
  #downtime;
  #delays;
  #journal;

  constructor({ downtime, delays, journal }) {
    this.#downtime = downtime;
    this.#delays = delays;
    this.#journal = journal;
  }

  onRevision(entry, before) {
    const dead = before?.lease?.owner;
    const isGoneOnWith = before?.outstanding.some(({ kind }) => kind === "run") && entry.epoch > before.epoch;
    if (!dead || !isGoneOnWith || entry.lease?.owner.startsWith(processOf(dead))) return;
    const to = this.#journal.ageMs;
    const blow = this.#downtime.lastBlow(processOf(dead));
    // Nobody has struck it: the server was away, or the machine was slow.
    if (blow === undefined) return;
    const { from, how } = blow;
    this.#delays.takeover(how, to - from - this.#downtime.excusedMs({ from, to }, []));
  }
}

const processOf = (owner) => owner.split("-")[0];
