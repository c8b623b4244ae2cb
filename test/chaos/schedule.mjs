// What a run does: who says what in which order, and after how many turns which process is struck. Drawn from the seed
// before anything starts; the wall clock has no part in it.
import { Random } from "./random.mjs";

/** How the channels treat a second message; only `http` is this gateway's own, the others are written to as an operator. */
export const CHANNEL_MODES = { http: "queue", cli: "steer", webhook: "interrupt" };

const STEPS = { ask: 34, chat: 8, burst: 18, twins: 10, again: 10, cancel: 9, reset: 4, forget: 7 };
const MANY_BYTES = 12_000;

/** `turns` messages in all, dealt out to sessions of different lengths. */
export function drawSessions(seed, turns) {
  const sessions = [];
  for (let left = turns; left > 0; ) {
    const session = drawSession(new Random(seed, 1, sessions.length), sessions.length, left);
    left -= session.messages.length;
    sessions.push(session);
  }
  return sessions;
}

function drawSession(random, n, limit) {
  const channel = random.weighted({ http: 70, cli: 18, webhook: 12 });
  const messages = [];
  const steps = [];
  const size = Math.min(
    limit,
    random.weighted({ short: 80, long: 20 }) === "short" ? random.between(4, 12) : random.between(20, 40),
  );
  const say = () => {
    const message = drawMessage(random, `s${n}.${messages.length}`);
    messages.push(message);
    return message;
  };
  while (messages.length < size) {
    const kind = random.weighted(channel === "http" ? STEPS : { ...STEPS, chat: 0 });
    if (kind === "again") {
      if (messages.length > 0) steps.push({ kind, of: [messages[random.between(0, messages.length - 1)]] });
      continue;
    }
    const count = kind === "burst" ? Math.min(random.between(2, 4), size - messages.length) : 1;
    steps.push({
      kind,
      of: Array.from({ length: count }, say),
      copies: random.between(2, 3),
      afterMs: random.between(0, 250),
      atOnce: random.chance(0.3),
    });
  }
  return { n, name: `${channel}:chaos-${n}`, channel, messages, steps, isWatched: random.chance(0.4) };
}

/** What the played model is to do stands in the text itself, so that it needs to remember nothing. */
function drawMessage(random, tag) {
  const tools = random.weighted({ none: 60, now: 10, echo: 12, both: 18 });
  const slowMs = random.chance(0.25) ? random.between(50, 600) : 0;
  const answer = random.chance(0.12) ? random.between(2_000, MANY_BYTES) : random.between(5, 300);
  const length = random.chance(0.1) ? random.between(2_000, MANY_BYTES) : random.between(0, 200);
  const words = "what then? 然后呢 ça va … ".repeat(Math.ceil(length / 24)).slice(0, length);
  return { tag, id: `id-${tag}`, text: `[${tag}] tools=${tools} slow=${slowMs} answer=${answer} ${words}`.trim() };
}

const BLOWS = {
  "orchestrator SIGKILL": 34,
  "orchestrator SIGTERM": 9,
  "orchestrator pause": 22,
  "gateway SIGKILL": 11,
  "gateway SIGTERM": 4,
  "gateway pause": 5,
  "nats SIGKILL": 10,
  "nats SIGTERM": 3,
  "nats pause": 2,
};

/** When a due blow falls on an orchestrator: at once, or right after one has committed a reply or a tool call. */
const MOMENTS = { any: 50, reply: 30, tool: 20 };

/** Blows by the number of turns over at which they fall; on average one in `gap` turns. */
export function drawBlows(seed, { turns, gap, orchestrators, gateways }) {
  const random = new Random(seed, 2);
  const blows = [];
  for (let at = random.between(3, gap); at < turns; at += random.between(Math.ceil(gap / 2), Math.ceil(gap * 1.5))) {
    const [target, how] = random.weighted(BLOWS).split(" ");
    const count = { orchestrator: orchestrators, gateway: gateways, nats: 1 }[target];
    const ms = drawLength(random, target, how);
    const moment = target === "orchestrator" ? random.weighted(MOMENTS) : "any";
    blows.push({ at, target, which: random.between(0, count - 1), how, ms, moment });
  }
  return blows;
}

/** How long it is down. A pause of an orchestrator may outlast its lease: it wakes up as a zombie. */
function drawLength(random, target, how) {
  if (how !== "pause") return random.between(0, 1_500);
  if (target === "orchestrator" && random.chance(0.45)) return random.between(10_500, 14_000);
  return random.between(1_000, 4_000);
}
