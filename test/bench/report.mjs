// The figures as Markdown.
import { cpus } from "node:os";
import { budgetLines, verdict } from "./budgets.mjs";
import { BARE } from "./subject.mjs";

const fixed = (value, digits) => (Number.isFinite(value) ? value.toFixed(digits) : "–");
const digitsOf = (unit) => (unit === "ms" ? 1 : 0);
const row = (...cells) => `| ${cells.join(" | ")} |`;
const table = (head, rows) => [row(...head), row(...head.map(() => "---")), ...rows].join("\n");

export function budgetTable(results) {
  return table(
    ["what", "measured", "at least", "aim", ""],
    budgetLines(results).map(({ what, value, budget }) => {
      const { limit, aim, unit } = budget;
      return row(what, `${fixed(value, digitsOf(unit))} ${unit}`, limit, aim, verdict(value, budget));
    }),
  );
}

/** The bare call takes nothing of ours. */
const cpuCell = (way, cpu) => (way === BARE ? "–" : fixed(cpu, 2));

export function figureTable({ rows }) {
  return table(
    ["what", "clients", "turns/s", "p50 ms", "p95 ms", "p99 ms", "CPU ms a turn", "errors"],
    rows.map(({ way, clients, perSecond, p50, p95, p99, cpu, errors }) =>
      row(way, clients, fixed(perSecond, 0), ...[p50, p95, p99].map((ms) => fixed(ms, 2)), cpuCell(way, cpu), errors),
    ),
  );
}

export function memoryTable({ memory: { rest, rounds } }) {
  const total = (all) => all.reduce((sum, [, mib]) => sum + mib, 0);
  const names = rest.map(([name]) => name);
  const line = (when, all) => row(when, ...all.map(([, mib]) => fixed(mib, 0)), fixed(total(all), 0));
  return table(
    ["PSS, MiB", ...names, "all"],
    [line("at rest", rest), ...rounds.map((all, n) => line(`after round ${n + 1}`, all))],
  );
}

/** Where and how the figures were taken, in one sentence. */
export function setting({ plan, natsVersion }) {
  const { rounds, seconds, orchestrators } = plan;
  const taken = rounds === 1 ? `over ${seconds} s` : `the median of ${rounds} rounds of ${seconds} s`;
  const hosts = orchestrators === 1 ? "one orchestrator" : `${orchestrators} orchestrators`;
  return (
    `${cpus().length} cores with everything on them (clients and model too), Node ${process.version}, NATS ${natsVersion}, one gateway, ${hosts}, ` +
    `a model that answers at once; each figure is ${taken}, services warm.`
  );
}

export function reportOf(results) {
  const { plain, fsynced } = results;
  const parts = [
    "# Bench",
    "Written by `npm run bench -- --report`; not by hand.",
    setting(plain ?? fsynced),
    `## Budgets\n\n${budgetTable(results)}`,
  ];
  if (plain) {
    parts.push(`## Writes acknowledged before they are on disk (the default)\n\n${figureTable(plain)}`);
    parts.push(memoryTable(plain));
  }
  if (fsynced) parts.push(`## Every write fsynced (\`sync_interval: always\`)\n\n${figureTable(fsynced)}`);
  parts.push("CPU is that of NATS, gateway and orchestrator together.");
  return `${parts.join("\n\n")}\n`;
}

const MARKS = ["<!-- bench:begin -->", "<!-- bench:end -->"];

/** The README with the budgets' figures between its marks. */
export function withFigures(readme, results) {
  const [begin, end] = MARKS.map((mark) => readme.indexOf(mark));
  if (begin < 0 || end < begin) throw new Error(`README.md lacks ${MARKS.join(" … ")}`);
  const figures = `\n${budgetTable(results)}\n\n${setting(results.plain ?? results.fsynced)}\n`;
  return readme.slice(0, begin + MARKS[0].length) + figures + readme.slice(end);
}
