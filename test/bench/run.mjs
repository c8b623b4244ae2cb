// `npm run bench`: turns through the real processes, next to the bare model call of the same run. Options in USAGE.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { measure } from "./measure.mjs";
import { budgetTable, figureTable, memoryTable, reportOf, setting, withFigures } from "./report.mjs";

const USAGE = `npm run bench -- [--rounds 3] [--seconds 3] [--clients 1,16,64] [--orchestrators 1] [--warm-up 1]
  --fsync   also with every write on disk before it is acknowledged
  --report  writes docs/reports/bench.md and the table of the README`;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "3" },
    clients: { type: "string", default: "1,16,64" },
    orchestrators: { type: "string", default: "1" },
    "warm-up": { type: "string", default: "1" },
    fsync: { type: "boolean", default: false },
    report: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
const plan = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  clients: values.clients.split(",").map(Number),
  orchestrators: Number(values.orchestrators),
  warmUp: Number(values["warm-up"]),
};

const plain = await measure({ ...plan, fsync: false });
console.log(`\n${figureTable(plain)}\n\n${memoryTable(plain)}\n`);
const fsynced = values.fsync ? await measure({ ...plan, fsync: true }) : undefined;
if (fsynced) console.log(`every write fsynced\n\n${figureTable(fsynced)}\n`);
const results = { plain, fsynced };
console.log(`${budgetTable(results)}\n\n${setting(plain)}`);

if (values.report) {
  const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
  mkdirSync(at("docs/reports"), { recursive: true });
  writeFileSync(at("docs/reports/bench.md"), reportOf(results));
  writeFileSync(at("README.md"), withFigures(readFileSync(at("README.md"), "utf8"), results));
  console.log("\nwritten: docs/reports/bench.md and the table in README.md");
}

// A section of its own, on an installation of its own.
await import("./long-conversation.mjs");
