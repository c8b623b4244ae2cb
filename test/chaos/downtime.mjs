// Who was down when, and how much of a wait nobody could have spared a client: while the NATS server is down nothing
// can be done, nor while every orchestrator is, nor can the gateway answer that it has asked. That one of several
// orchestrators is down is no excuse: the others have to take its turns over.

/** What a process had handed to the outside may come so long after a blow. */
const AFTER_MS = 8_000;

export class Downtime {
  #orchestrators;
  /** `{ target, process, from, to }`, milliseconds of the run, by target; `to` is Infinity while it lasts. */
  #spans = new Map();
  /** When and how a process was struck last, by its id: `{ from, how }`. */
  #struck = new Map();
  /** `{ from, to }` by the operating system's process id. */
  #byPid = new Map();

  constructor({ orchestrators }) {
    this.#orchestrators = Array.from({ length: orchestrators }, (_, which) => `orchestrator-${which}`);
  }

  /**
   * @param blow `{ target, from, how, process, pid }`; `process` as leases name it, of an orchestrator
   * @returns a function to be called when it runs again, with the time
   */
  begin({ target, from, how, process, pid }) {
    const span = { from, to: Infinity };
    this.#spans.set(target, [...this.#of(target), span]);
    if (process !== undefined) this.#struck.set(process, { from, how });
    this.#byPid.set(pid, [...(this.#byPid.get(pid) ?? []), span]);
    return (to) => {
      span.to = to;
    };
  }

  /** Whether a process is struck at this time, or was so a moment ago. */
  isStruck(pid, at) {
    return (this.#byPid.get(pid) ?? []).some(({ from, to }) => from <= at && at <= to + AFTER_MS);
  }

  lastBlow(process) {
    return this.#struck.get(process);
  }

  /** Milliseconds of a wait that are excused. `requests`: `{ gateway, from, to }`, what the client asked in that time. */
  excusedMs({ from, to }, requests) {
    const within = (target, wait) => this.#of(target).flatMap((span) => overlap(span, wait));
    const [first, ...others] = this.#orchestrators.map((target) => within(target, { from, to }));
    const allDown = others.reduce((down, spans) => down.flatMap((a) => spans.flatMap((b) => overlap(a, b))), first);
    const asked = requests.flatMap((request) => within(`gateway-${request.gateway}`, request));
    return lengthOf([...within("nats-0", { from, to }), ...allDown, ...asked]);
  }

  #of(target) {
    return this.#spans.get(target) ?? [];
  }
}

function overlap(a, b) {
  const [from, to] = [Math.max(a.from, b.from), Math.min(a.to, b.to)];
  return from < to ? [{ from, to }] : [];
}

/** Of the union. */
function lengthOf(spans) {
  let [sum, end] = [0, -Infinity];
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    sum += Math.max(0, to - Math.max(from, end));
    end = Math.max(end, to);
  }
  return sum;
}
