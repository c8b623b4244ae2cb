import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";

const setup = fileURLToPath(new URL("../setup.mjs", import.meta.url));

/** Stands in for npm and for the compiler: notes that it was called, and leaves what the real one would. */
const FAKE_NPM = `
import { appendFileSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
appendFileSync("calls", "npm " + process.argv.slice(2, 4).join(" ") + "\\n");
if (existsSync("no-network")) {
  console.error("npm error code ENOTFOUND\\nnpm error network request failed\\nnpm error A complete log of this run");
  process.exit(1);
}
if (existsSync("slow")) {
  // As the real one while it unpacks: it hears no polite request.
  process.on("SIGTERM", () => undefined);
  console.log("begun");
  writeFileSync("npm-pid", String(process.pid));
  await new Promise(() => setInterval(() => undefined, 1e6));
}
mkdirSync("node_modules", { recursive: true });
copyFileSync("package-lock.json", "node_modules/.package-lock.json");
`;
const FAKE_TSC = `
const { appendFileSync, existsSync, mkdirSync, writeFileSync } = require("node:fs");
appendFileSync("calls", "tsc\\n");
if (existsSync("broken")) {
  console.log("libs/one/src/one.ts(1,7): error TS2322: Type mismatch.");
  process.exit(1);
}
for (const folder of ["libs/one/dist", "deploy/local/dist"]) mkdirSync(folder, { recursive: true });
writeFileSync("libs/one/dist/.tsbuildinfo", "");
writeFileSync("deploy/local/dist/troupe.js", "");
`;

let clone: string;
const write = (name: string, text: string) => {
  mkdirSync(dirname(join(clone, name)), { recursive: true });
  writeFileSync(join(clone, name), text);
};
const calls = () => {
  const file = join(clone, "calls");
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  rmSync(file, { force: true });
  return text.trim().split("\n");
};
const lock = (version: string) =>
  write(
    "package-lock.json",
    JSON.stringify({
      packages: {
        "": {},
        "libs/one": { version: "0.1.0" },
        "node_modules/zod": { version, resolved: "z" },
        "node_modules/for-another-system": { version: "1.0.0", optional: true },
      },
    }),
  );

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), "troupe-clone-"));
  mkdirSync(join(clone, "deploy/local"), { recursive: true });
  cpSync(setup, join(clone, "deploy/local/setup.mjs"));
  write(
    "run.mjs",
    `import { build, installDependencies } from "./deploy/local/setup.mjs";
    try { await installDependencies(); await build(); } catch (error) { console.error(error.message); process.exit(1); }`,
  );
  write("npm.js", `import("./npm.mjs")`);
  write("npm.mjs", FAKE_NPM);
  write("node_modules/typescript/bin/tsc", FAKE_TSC);
  write("tsconfig.json", JSON.stringify({ references: [{ path: "libs/one" }] }));
  write("libs/one/src/one.ts", "export const one = 1;");
  lock("4.0.0");
});
afterEach(() => rmSync(clone, { recursive: true, force: true }));

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function run() {
  const env = { ...process.env, npm_execpath: join(clone, "npm.js") };
  return new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(process.execPath, [join(clone, "run.mjs")], { env }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
}

describe("setting up a clone", () => {
  it("installs and builds the first time, then does nothing", async () => {
    const first = await run();
    expect(first.out).toMatch(/^troupe: installing dependencies .*\ntroupe: building …\n$/);
    expect(calls()).toEqual(["npm ci --include=dev", "tsc"]);
    expect(await run()).toEqual({ code: 0, out: "", err: "" });
    expect(calls()).toEqual([""]);
  });

  it("installs again when the lock file asks for something else", async () => {
    await run();
    calls();
    lock("4.0.1");
    await run();
    expect(calls()).toContain("npm ci --include=dev");
  });

  it("installs again after an installation that was interrupted", async () => {
    await run();
    calls();
    rmSync(join(clone, "node_modules/.package-lock.json"));
    await run();
    expect(calls()).toEqual(["npm ci --include=dev"]);
  });

  it("builds again when a source changed or its output is gone", async () => {
    await run();
    calls();
    write("libs/one/src/two.ts", "export const two = 2;");
    await run();
    expect(calls()).toEqual(["tsc"]);
    rmSync(join(clone, "libs/one/dist"), { recursive: true });
    await run();
    expect(calls()).toEqual(["tsc"]);
  });

  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "ended by %s, leaves no installation running beside the next one",
    async (signal) => {
      write("slow", "");
      const pidFile = join(clone, "npm-pid");
      const env = { ...process.env, npm_execpath: join(clone, "npm.js") };
      const child = spawn(process.execPath, [join(clone, "run.mjs")], { env, stdio: "ignore" });
      const ended = once(child, "exit");
      const pid = await vi.waitFor(() => {
        const text = readFileSync(pidFile, "utf8");
        expect(text).toMatch(/^[1-9]\d*$/);
        return Number(text);
      });
      onTestFinished(() => void (isAlive(pid) && process.kill(pid, "SIGKILL")));
      child.kill(signal);
      expect(await ended).toEqual([null, signal]);
      await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 5_000 });
    },
  );

  it("says in one line why npm failed", async () => {
    write("no-network", "");
    expect(await run()).toMatchObject({ code: 1, err: "npm ci failed: network request failed\n" });
  });

  it("says what does not compile, and tries again the next time", async () => {
    write("broken", "");
    const { code, err } = await run();
    expect(code).toBe(1);
    expect(err).toMatch(/the build failed: libs\/one\/src\/one\.ts\(1,7\): error TS2322: Type mismatch\.\n$/);
    rmSync(join(clone, "broken"));
    expect((await run()).code).toBe(0);
  });
});
