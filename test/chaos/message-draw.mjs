// One message. What the played model is to do stands in the text itself.

const MANY_BYTES = 12_000;

/** How a model's calls fail before one succeeds; what must pass by itself, and what ends in an honest error. */
const TROUBLES = {
  none: 84,
  rate: 2,
  busy: 2,
  broken: 2,
  cut: 3,
  stall: 2,
  empty: 2,
  "refused for good": 1,
  "long for good": 1,
  "empty for good": 1,
  "down for good": 0.5,
};

/** The code of the error that a trouble ends in when it does not pass. */
const CODES = {
  refused: "model_refused",
  long: "context_too_long",
  empty: "empty_answer",
  down: "model_unavailable",
};

export function drawMessage(random, { tag, era, mayFail }) {
  const tools = random.weighted({ none: 58, now: 10, echo: 12, both: 16, blob: 4 });
  const slowMs = random.chance(0.25) ? random.between(50, 600) : 0;
  const answer = drawAnswer(random);
  const length = random.chance(0.1) ? random.between(2_000, MANY_BYTES) : random.between(0, 200);
  const words = "what then? 然后呢 ça va … ".repeat(Math.ceil(length / 24)).slice(0, length);
  const drawn = random.weighted(TROUBLES).split(" ");
  const [trouble, ...forGood] = drawn.length > 1 && !mayFail ? ["none"] : drawn;
  const times = forGood.length > 0 ? 99 : trouble === "none" ? 0 : random.between(1, 2);
  const form = `[${tag}] era=${era} tools=${tools} slow=${slowMs} answer=${answer} trouble=${trouble}:${times}`;
  return { tag, answer, text: `${form} ${words}`.trim(), error: forGood.length > 0 ? CODES[trouble] : null };
}

/**
 * How a messenger takes the first sends of a reply: it shows it, asks for patience, shows it and does not say so, breaks
 * off before it shows anything, or will never take it.
 */
const MOODS = { well: 76, busy: 8, mute: 6, losing: 5, refusing: 5 };

export function drawOutside(random) {
  const mood = random.weighted(MOODS);
  const times = mood === "well" ? 0 : mood === "refusing" ? 99 : random.between(1, 2);
  return { mood, times, slowMs: random.chance(0.3) ? random.between(20, 400) : 0 };
}

/** What the played model says to a message in the end. */
export function answerTo({ tag, answer }) {
  return `re [${tag}]: ${"so it is. ".repeat(Math.ceil(answer / 10)).slice(0, answer)}.`;
}

function drawAnswer(random) {
  if (random.chance(0.02)) return random.between(30_000, 100_000);
  return random.chance(0.12) ? random.between(2_000, MANY_BYTES) : random.between(5, 300);
}
