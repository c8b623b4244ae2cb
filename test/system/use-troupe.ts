import { type LogMark, startTroupe, type TroupeOptions, type TroupeSystem } from "@troupe/testkit";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";

/** Prints what the services wrote when a test has failed: without it nobody can tell why. */
export function printLogsOfFailed(logs: () => string): void {
  afterEach(({ task }) => {
    if (task.result?.state === "fail") console.error(`services during "${task.name}":\n${logs()}`);
  });
}

/** One installation for all tests of a file. */
export function useTroupe(options: TroupeOptions = {}): () => TroupeSystem {
  let system: TroupeSystem | undefined;
  let mark: LogMark = new Map();
  const running = (): TroupeSystem => {
    if (system === undefined) throw new Error("the installation has not been started");
    return system;
  };
  beforeAll(async () => {
    system = await startTroupe(options);
  });
  afterAll(() => system?.stop());
  beforeEach(() => {
    mark = running().logMark();
  });
  printLogsOfFailed(() => running().logs(mark));
  return running;
}
