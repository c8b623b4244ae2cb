// Who was down when, and how much of a wait nobody could have spared a client: while the NATS server is down nothing
// can be done, nor while every orchestrator is, nor can the gateway answer that it has asked. That one of several
// orchestrators is down is no excuse: the others have to take its turns over.

export class Downtime {
  #orchestrators;
  /** `{ target, from, to }`, milliseconds of the run; `to` is Infinity while it lasts. */
  #spans = [];

  constructor({ orchestrators }) {
    this.#orchestrators = Array.from({ length: orchestrators }, (_, which) => `orchestrator-${which}`);
  }

  /** @returns a function to be called when it runs again, with the time */
  begin(target, from) {
    const span = { target, from, to: Infinity };
    this.#spans.push(span);
    return (to) => {
      span.to = to;
    };
  }

  /** Milliseconds of a wait that are excused. `requests`: `{ gateway, from, to }`, what the client asked in that time. */
  excusedMs({ from, to }, requests) {
    const pieces = [...this.#of("nats-0"), ...this.#allDown()];
    for (const request of requests)
      pieces.push(...this.#of(`gateway-${request.gateway}`).flatMap((span) => overlap(span, request)));
    return lengthOf(pieces.flatMap((piece) => overlap(piece, { from, to })));
  }

  #of(target) {
    return this.#spans.filter((span) => span.target === target);
  }

  #allDown() {
    const [first, ...others] = this.#orchestrators;
    return others.reduce(
      (down, target) => down.flatMap((span) => this.#of(target).flatMap((other) => overlap(span, other))),
      this.#of(first),
    );
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
