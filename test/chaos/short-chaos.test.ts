import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureBuilt, natsServerBinary } from "@troupe/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";

const script = fileURLToPath(new URL("run.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "troupe-chaos-"));
const Report = z.object({ figures: z.record(z.string(), z.number()), findings: z.array(z.unknown()) });

beforeAll(() => ensureBuilt(), 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** As a process of its own, like under `npm run chaos`: the run must not share its event loop with the test runner. */
function runChaos(args: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...args], {
      env: { ...process.env, NATS_SERVER_BIN: natsServerBinary() },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    }
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}

describe("a short chaos run", () => {
  it("finds nothing lost, doubled, wrong, stale or stuck", async () => {
    const report = join(folder, "report.json");
    const { code, output } = await runChaos([
      "--turns",
      "60",
      "--seed",
      "2633",
      "--gap",
      "14",
      "--sessions",
      "8",
      "--report",
      report,
    ]);
    expect(code, output).toBe(0);
    const { figures, findings } = Report.parse(JSON.parse(readFileSync(report, "utf8")));
    expect(findings).toEqual([]);
    // It must have done what it is for.
    expect(figures.turns).toBe(60);
    expect(figures.kills).toBeGreaterThan(0);
    expect(figures.pauses).toBeGreaterThan(0);
    expect(figures.erasures).toBeGreaterThan(0);
    expect(figures["sessions with a messenger"]).toBeGreaterThan(1);
    expect(figures["replies shown at messengers"]).toBeGreaterThan(0);
  }, 400_000);
});
