/**
 * Runs the tests through vitest's own interface instead of its command line, because the report needs the reasons
 * of skipped tests, which no built-in machine-readable reporter prints.
 *
 * Usage: run-vitest.mjs <report file> [filter…]
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import { startVitest } from "vitest/node";

const [file, ...filters] = process.argv.slice(2);

/** Counts what a person would: tests, and everything else that went wrong (a file that does not load, a stray error). */
const reporter = {
  onTestRunEnd(modules, unhandledErrors) {
    const report = { passed: 0, failed: unhandledErrors.length, skipped: [] };
    for (const module of modules) {
      report.failed += module.errors().length;
      for (const suite of module.children.allSuites()) report.failed += suite.errors().length;
      for (const test of module.children.allTests()) count(report, module, test);
    }
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(report));
  },
};

function count(report, module, test) {
  const { state, note } = test.result();
  if (state === "passed") report.passed += 1;
  else if (state === "failed") report.failed += 1;
  // A test that never came to a result did not pass either, unless its file already counts as failed.
  else if (state === "pending") report.failed += module.errors().length > 0 ? 0 : 1;
  else {
    const title = `${relative(process.cwd(), module.moduleId)} > ${test.fullName}`;
    report.skipped.push({ title, reason: note ?? "no reason given" });
  }
}

const vitest = await startVitest("test", filters, {
  run: true,
  watch: false,
  reporters: ["default", reporter],
});
await vitest.close();
