// Measures one installation: each figure is taken once a round, and the median of the rounds counts.
import { load } from "./load.mjs";
import { cpuOf, memoryOf } from "./process-use.mjs";
import { BARE, STREAMED, startSubject, WAITED } from "./subject.mjs";

/** A service is measured as it is most of its life: compiled. Its first thousands of turns are several times slower. */
const WARM_UP = [
  [STREAMED, 6_000],
  [WAITED, 3_000],
  [BARE, 3_000],
];
const WARM_UP_CLIENTS = 16;

export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * @param {{ rounds: number, seconds: number, clients: number[], orchestrators: number, fsync: boolean, warmUp: number }} plan
 */
export async function measure(plan) {
  const subject = await startSubject(plan);
  try {
    const memory = { rest: memoryNow(subject), rounds: [] };
    for (const [way, turns] of WARM_UP) {
      await load({ clients: WARM_UP_CLIENTS, turns: turns * plan.warmUp, ask: subject.ways[way]() });
    }
    const taken = [];
    for (let round = 1; round <= plan.rounds; round++) {
      for (const [way, ask] of Object.entries(subject.ways)) {
        for (const clients of plan.clients) taken.push(await measureOnce(subject, { way, ask, clients, round, plan }));
      }
      memory.rounds.push(memoryNow(subject));
      process.stderr.write(`bench: round ${round} of ${plan.rounds} done\n`);
    }
    return { plan, natsVersion: subject.natsVersion, rows: rowsOf(taken, plan), added: addedOf(taken), memory };
  } finally {
    await subject.stop();
  }
}

async function measureOnce({ processes }, { way, ask, clients, round, plan }) {
  const before = processes.map(([, pid]) => cpuOf(pid));
  const got = await load({ clients, seconds: plan.seconds, ask: ask() });
  const used = processes.reduce((sum, [, pid], n) => sum + cpuOf(pid) - before[n], 0);
  return { way, clients, round, ...got, cpu: used / got.count };
}

function memoryNow({ processes }) {
  return processes.map(([name, pid]) => [name, memoryOf(pid)]);
}

function rowsOf(taken, { clients }) {
  const ways = [...new Set(taken.map(({ way }) => way))];
  return ways.flatMap((way) =>
    clients.map((count) => {
      const own = taken.filter((one) => one.way === way && one.clients === count);
      const of = (name) => median(own.map((one) => one[name]));
      const errors = own.reduce((sum, one) => sum + one.errors, 0);
      const quantiles = { p50: of("p50"), p95: of("p95"), p99: of("p99") };
      return { way, clients: count, perSecond: of("perSecond"), ...quantiles, cpu: of("cpu"), errors };
    }),
  );
}

/** What a turn takes longer than the bare call of the same round, at one client. */
function addedOf(taken) {
  const one = taken.filter(({ clients }) => clients === 1);
  const bare = one.filter(({ way }) => way === BARE);
  const over = (way) => bare.map(({ round, p50 }) => one.find((x) => x.way === way && x.round === round).p50 - p50);
  return bare.length === 0 ? {} : { [STREAMED]: median(over(STREAMED)), [WAITED]: median(over(WAITED)) };
}
