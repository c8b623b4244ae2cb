// What a process takes of the machine, as Linux counts it.
import { readFileSync } from "node:fs";

/** Proportional set size in MiB: pages that several processes share are counted once among them. */
export function memoryOf(pid) {
  const kib = Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
  return kib / 1_024;
}

/** Processor time so far in milliseconds; Linux counts it in hundredths of a second. */
export function cpuOf(pid) {
  // The name may hold spaces and brackets; what follows its last bracket are fields 3 and up: 14 and 15 are the times.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
