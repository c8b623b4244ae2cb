// How long clients waited for their finals, beside what nobody could have spared them; and how long it took until
// somebody went on with the work of an orchestrator that was struck.

const SLOWEST = 12;
/** What happened so long before a message was sent may still be a reason. */
const BEFORE_MS = 15_000;

export class Delays {
  #took = [];
  #beyond = [];
  #shown = [];
  #takeovers = { kill: [], pause: [] };
  /** The finals that were longest in coming beyond what was down, with all that happened meanwhile. */
  slowest = [];

  take({ name, messages }, journal) {
    for (const { tag, delay, shownMs } of messages) {
      if (shownMs !== undefined) this.#shown.push(shownMs);
      if (delay === undefined) continue;
      const beyondMs = delay.tookMs - delay.excusedMs;
      this.#took.push(delay.tookMs);
      this.#beyond.push(beyondMs);
      if (beyondMs <= (this.slowest[SLOWEST - 1]?.beyondMs ?? 0)) continue;
      const happened = journal.around(name, { from: delay.from - BEFORE_MS, to: delay.to + 500 });
      this.slowest.push({ session: name, tag, tookMs: delay.tookMs, beyondMs, happened });
      this.slowest.sort((a, b) => b.beyondMs - a.beyondMs).splice(SLOWEST);
    }
  }

  /** From the blow to the commit of whoever took over, without the time in which nobody could have. */
  takeover(how, ms) {
    this.#takeovers[how === "pause" ? "pause" : "kill"].push(ms);
  }

  get figures() {
    const takeovers = Object.entries(this.#takeovers).map(([how, all]) => [
      [`takeovers after a ${how}`, all.length],
      ...spread(`ms until a takeover after a ${how}`, all),
    ]);
    return Object.fromEntries([
      ...spread("ms to the final", this.#took),
      ...spread("ms beyond what was down", this.#beyond),
      ...spread("ms until shown at a messenger", this.#shown),
      ...takeovers.flat(),
    ]);
  }
}

function spread(name, values) {
  const all = values.toSorted((a, b) => a - b);
  const at = (share) => all[Math.floor((all.length - 1) * share)] ?? 0;
  return [
    [`${name}, p50`, at(0.5)],
    [`${name}, p99`, at(0.99)],
    [`${name}, at most`, at(1)],
  ];
}
