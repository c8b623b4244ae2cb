import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";

// Workspace packages resolve to their `src/` through this condition, so that tests need no build.
const conditions = ["troupe-source", "module", "node", "development|production"];

const pureTests = ["libs/{contracts,kernel}/test/**/*.test.ts", "libs/domain/*/test/**/*.test.ts"];
const processTests = ["{libs,services,deploy}/**/test/**/*.proc.test.ts", "test/**/*.test.ts"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ["troupe-source", "node"] } },
  test: {
    reporters: ["default"],
    // Only a test that hangs takes this long; a busy machine is no failure. Longer than any wait for a condition, so
    // that the wait tells what it missed.
    testTimeout: 60_000,
    setupFiles: [fileURLToPath(new URL(".tooling/patient-waits.ts", import.meta.url))],
    // As patient as that file.
    expect: { poll: { timeout: 30_000, interval: 25 } },
    // Groups run one after the other: suites that spawn processes have the machine to themselves.
    projects: [
      {
        extends: true,
        test: {
          name: "pure",
          include: pureTests,
          exclude: [...configDefaults.exclude, "**/*.proc.test.ts"],
          pool: "threads",
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "unit",
          include: ["{libs,services,deploy}/**/test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...pureTests, "**/*.proc.test.ts"],
          pool: "forks",
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "process",
          include: processTests,
          pool: "forks",
          maxWorkers: 3,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
