// The budgets, each beside the figure that was measured for it: what is needed at least, and what is aimed at.
import { STREAMED } from "./subject.mjs";

const atMost = (limit, aim, unit) => ({ limit, aim, unit, isWithin: (value, bound) => value <= bound });
const atLeast = (limit, aim, unit) => ({ limit, aim, unit, isWithin: (value, bound) => value >= bound });

const rate = (result, clients) =>
  result?.rows.find((row) => row.way === STREAMED && row.clients === clients)?.perSecond;

/** @returns {{ what: string, value: number, budget: object }[]} those for which there is a figure */
export function budgetLines({ plain, fsynced }) {
  const rest = plain?.memory.rest.reduce((sum, [, mib]) => sum + mib, 0);
  return [
    ["added latency of a streamed turn, 1 client, p50", plain?.added[STREAMED], atMost(6, 3, "ms")],
    ["turns per second, streamed, 16 clients", rate(plain, 16), atLeast(400, 600, "/s")],
    ["turns per second, streamed, 64 clients", rate(plain, 64), atLeast(600, 1_000, "/s")],
    ["the same, every write fsynced, 16 clients", rate(fsynced, 16), atLeast(200, 350, "/s")],
    ["the same, every write fsynced, 64 clients", rate(fsynced, 64), atLeast(200, 350, "/s")],
    ["memory at rest, all processes (PSS)", rest, atMost(500, 300, "MiB")],
  ].flatMap(([what, value, budget]) => (value === undefined ? [] : [{ what, value, budget }]));
}

export function verdict(value, { limit, aim, isWithin }) {
  if (isWithin(value, aim)) return "aim met";
  return isWithin(value, limit) ? "met" : "**missed**";
}
