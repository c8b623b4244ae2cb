/**
 * `npm test`: sets the clone up, then runs the checks and every test that needs no Docker. Its last line is
 * `N passed, N failed`: each test counts, and each step (build, NATS server, lint, …) counts as one.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build, checkNode, installDependencies, npm, root, SetUpFailure, say } from "./setup.mjs";

const CHECKS = ["lint", "typecheck", "format:check"];
const counts = { passed: 0, failed: 0 };

if (await step("dependencies", setUp)) {
  await step("build", build);
  await step("NATS server", findServer);
}
for (const script of CHECKS) if (declares(script)) await step(script, () => runScript(script));
await runTests();

say(counts.failed === 0 ? "all is well" : "something failed, see above");
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`);
process.exitCode = counts.failed === 0 ? 0 : 1;

async function setUp() {
  checkNode();
  await installDependencies();
}

/** The tests start servers of their own; all they need is to know which binary. */
async function findServer() {
  // One project that does not build need not take this one along.
  const module = new URL("./dist/nats-server/find-server.js", import.meta.url);
  if (!existsSync(module)) throw new SetUpFailure("deploy/local has not been built");
  const { findServerBinary } = await import(module.href);
  const found = await findServerBinary({ root, env: process.env, say });
  if (found.kind === "none") throw new SetUpFailure(found.reason);
  process.env.NATS_SERVER_BIN = found.path;
  say(`NATS server ${found.version} (${found.origin})`);
}

async function step(name, action) {
  const startedAt = performance.now();
  try {
    await action();
    counts.passed += 1;
    say(`${name}: passed in ${seconds(startedAt)}`);
    return true;
  } catch (error) {
    counts.failed += 1;
    say(`${name}: failed: ${error instanceof SetUpFailure ? error.message : (error.stack ?? error)}`);
    return false;
  }
}

function declares(script) {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts[script] !== undefined;
}

async function runScript(script) {
  const code = await runOnScreen(...npm(["run", "--silent", script]));
  if (code !== 0) throw new SetUpFailure(`npm run ${script} ended with ${code}`);
}

async function runTests() {
  const report = join(root, ".cache", "test-report.json");
  rmSync(report, { force: true });
  const filters = process.argv.slice(2);
  const code = await runOnScreen(process.execPath, [join(root, "deploy/local/run-vitest.mjs"), report, ...filters]);
  const result = read(report);
  if (result === undefined) {
    counts.failed += 1;
    say("the tests did not run to their end");
    return;
  }
  counts.passed += result.passed;
  counts.failed += result.failed;
  if (code !== 0 && result.failed === 0) {
    counts.failed += 1;
    say(`vitest ended with ${code} although no test failed`);
  }
  for (const { title, reason } of result.skipped) say(`skipped: ${title}: ${reason}`);
}

function read(report) {
  try {
    return JSON.parse(readFileSync(report, "utf8"));
  } catch {
    return undefined;
  }
}

function runOnScreen(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
    child.on("error", (error) => {
      say(`${command}: ${error.message}`);
      resolve(127);
    });
    child.on("close", (code) => resolve(code ?? 1));
  });
}

function seconds(startedAt) {
  return `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
}
