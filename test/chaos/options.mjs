// What a run is asked for on the command line.
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { projectRoot } from "@troupe/testkit";

/** Text options as they were given, and numbers for those that are. */
export function readOptions() {
  const { values } = parseArgs({
    options: {
      turns: { type: "string", default: "300" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      minutes: { type: "string", default: "600" },
      sessions: { type: "string", default: "24" },
      gap: { type: "string", default: "25" },
      orchestrators: { type: "string", default: "2" },
      gateways: { type: "string", default: "2" },
      // Processes of each channel that has a messenger.
      channels: { type: "string", default: "2" },
      // Fewer kills than this are a failure: the run was not what it was meant to be.
      "least-kills": { type: "string", default: "0" },
      report: { type: "string" },
      // A page for people.
      page: { type: "string" },
    },
  });
  const report = values.report ?? join(projectRoot, ".cache", "chaos", `report-${values.seed}.json`);
  const number = (name) => Number(values[name]);
  return { values, report, page: values.page, number, machine };
}

const machine = { node: process.version, processors: availableParallelism() };
