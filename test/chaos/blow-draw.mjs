// Which process is struck how, and after how many turns. Drawn from the seed before anything starts.
import { Random } from "./random.mjs";

const BLOWS = {
  "orchestrator SIGKILL": 34,
  "orchestrator SIGTERM": 9,
  "orchestrator pause": 22,
  "gateway SIGKILL": 11,
  "gateway SIGTERM": 4,
  "gateway pause": 5,
  "channel SIGKILL": 10,
  "channel SIGTERM": 4,
  "channel pause": 8,
  "nats SIGKILL": 10,
  "nats SIGTERM": 3,
  "nats pause": 2,
};

/**
 * When a due blow falls: at once, right after an orchestrator has committed a reply or a tool call, or when a channel's
 * process waits for the messenger's answer, before its reply is shown or after.
 */
const MOMENTS = {
  orchestrator: { any: 50, reply: 30, tool: 20 },
  channel: { any: 40, arrived: 30, shown: 30 },
};

/** Blows by the number of turns over at which they fall; on average one in `gap` turns. */
export function drawBlows(seed, { turns, gap, orchestrators, gateways, channels }) {
  const random = new Random(seed, 2);
  const blows = [];
  for (let at = random.between(3, gap); at < turns; at += random.between(Math.ceil(gap / 2), Math.ceil(gap * 1.5))) {
    const [target, how] = random.weighted(BLOWS).split(" ");
    const count = { orchestrator: orchestrators, gateway: gateways, channel: channels, nats: 1 }[target];
    const ms = drawLength(random, target, how);
    const moment = target in MOMENTS ? random.weighted(MOMENTS[target]) : "any";
    blows.push({ at, target, which: random.between(0, count - 1), how, ms, moment });
  }
  return blows;
}

/**
 * How long it is down. A pause of an orchestrator may outlast its lease, and that of a channel's process its place as the
 * one that is served: it wakes up as a zombie.
 */
function drawLength(random, target, how) {
  if (how !== "pause") return random.between(0, 1_500);
  if (target === "orchestrator" && random.chance(0.45)) return random.between(10_500, 14_000);
  if (target === "channel" && random.chance(0.5)) return random.between(6_500, 13_000);
  return random.between(1_000, 4_000);
}
