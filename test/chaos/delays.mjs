// How long clients waited for their finals, beside what nobody could have spared them.

const SLOWEST = 12;

export function delayFigures(messages) {
  const delays = messages.flatMap(({ delay }) => (delay === undefined ? [] : [delay]));
  const took = sorted(delays.map(({ tookMs }) => tookMs));
  const beyond = sorted(delays.map(beyondMs));
  return {
    "ms to the final, p50": at(took, 0.5),
    "ms to the final, p99": at(took, 0.99),
    "ms to the final, at most": at(took, 1),
    "ms beyond what was down, p99": at(beyond, 0.99),
    "ms beyond what was down, at most": at(beyond, 1),
  };
}

/** The finals that were longest in coming beyond what was down, with all that happened meanwhile. */
export function slowest(sessions, journal) {
  return sessions
    .flatMap(({ name, messages }) => messages.map(({ tag, delay }) => ({ name, tag, delay })))
    .filter(({ delay }) => delay !== undefined)
    .sort((a, b) => beyondMs(b.delay) - beyondMs(a.delay))
    .slice(0, SLOWEST)
    .map(({ name, tag, delay }) => ({
      session: name,
      tag,
      tookMs: delay.tookMs,
      beyondMs: beyondMs(delay),
      // Blows that began a little earlier belong to it.
      happened: journal.around(name, { from: delay.from - 15_000, to: delay.to + 500 }),
    }));
}

const beyondMs = ({ tookMs, excusedMs }) => tookMs - excusedMs;
const sorted = (values) => values.toSorted((a, b) => a - b);
const at = (all, share) => all[Math.floor((all.length - 1) * share)] ?? 0;
