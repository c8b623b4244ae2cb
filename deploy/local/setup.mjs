/**
 * Sets a fresh clone up: the right Node, the dependencies of the lock file, the built output. Plain JavaScript on
 * Node's own modules, because it runs before anything is installed.
 *
 * Every step first finds out whether there is anything to do, in milliseconds, so that a second start costs nothing.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const FLOOR = [20, 19];

/** The folder of the clone. */
export const root = fileURLToPath(new URL("../../", import.meta.url));

/** What stops a start or a test run; its message is the one line that the user sees. */
export class SetUpFailure extends Error {}

/** Prints one line of progress. */
export function say(line) {
  process.stdout.write(`troupe: ${line}\n`);
}

/** Refuses a Node older than the floor that package.json names. */
export function checkNode(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > FLOOR[0] || (major === FLOOR[0] && minor >= FLOOR[1])) return;
  throw new SetUpFailure(`Node.js ${FLOOR.join(".")} or newer is needed, this is ${version}`);
}

/** Installs the dependencies unless node_modules already holds what the lock file asks for. */
export async function installDependencies() {
  if (isInstalled()) return;
  say("installing dependencies (npm ci), this takes a minute the first time …");
  // A NODE_ENV of production would leave the compiler out.
  const args = ["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"];
  const { code, output } = await run(...npm(args));
  if (code === 0) return;
  throw new SetUpFailure(`npm ci failed: ${npmReason(output)}`);
}

/** Compiles all projects unless nothing changed since the last build that went well. */
export async function build() {
  const stampFile = join(root, ".cache", "build-stamp");
  if (readIfThere(stampFile) === buildStamp()) return;
  say("building …");
  const { code, output } = await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-b"]);
  if (code !== 0) {
    process.stderr.write(output);
    throw new SetUpFailure(`the build failed: ${firstLine(output, /error/) || `tsc ended with ${code}`}`);
  }
  // npm makes commands executable when it installs, which was before this file existed.
  chmodSync(join(root, "deploy/local/dist/troupe.js"), 0o755);
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, buildStamp());
}

/** Command line of npm: the npm that runs us if there is one, so that no second version comes into play. */
export function npm(args) {
  const own = process.env.npm_execpath;
  return own?.endsWith(".js") ? [process.execPath, [own, ...args]] : ["npm", args];
}

/**
 * Runs a command in the clone and returns its exit code and what it wrote; never throws. A signal that ends this
 * process ends the command first: an installation that went on would write into the one that the next start begins.
 */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      // A group of its own, so that what it has started ends with it.
      detached: true,
      ...options,
    });
    const release = endWithUs(child);
    child.once("close", release).once("error", release);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    }
    child.on("error", (error) => resolve({ code: 127, output: `${output}${command}: ${error.message}\n` }));
    child.on("close", (code) => resolve({ code: code ?? 1, output }));
  });
}

/** npm hears no polite request while it unpacks, and half an installation is found out by the next start. */
function endWithUs(child) {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  const end = (signal) => {
    release();
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has just ended by itself.
    }
    process.kill(process.pid, signal);
  };
  const release = () => {
    for (const signal of signals) process.off(signal, end);
  };
  for (const signal of signals) process.on(signal, end);
  return release;
}

/**
 * npm writes the tree that it installed into node_modules/.package-lock.json as its last act, so comparing the two
 * finds a missing, an interrupted and an outdated installation alike.
 */
function isInstalled() {
  const installed = packagesOf(join(root, "node_modules", ".package-lock.json"));
  if (installed === undefined) return false;
  const wanted = packagesOf(join(root, "package-lock.json")) ?? {};
  return Object.entries(wanted).every(([path, entry]) => {
    if (!path.startsWith("node_modules/")) return !path.includes("/node_modules/") || existsSync(join(root, path));
    const found = installed[path];
    // Optional packages are those of other platforms; a link is a workspace and has no version.
    if (found === undefined) return entry.optional === true || entry.devOptional === true;
    return found.version === entry.version && found.resolved === entry.resolved;
  });
}

function packagesOf(file) {
  const text = readIfThere(file);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text).packages;
  } catch {
    return undefined;
  }
}

/** Changes whenever a source, a project file or the presence of a project's output does. */
function buildStamp() {
  const hash = createHash("sha256").update(process.versions.node.split(".")[0] ?? "");
  for (const file of ["package-lock.json", "tsconfig.base.json", "tsconfig.json"]) note(hash, join(root, file));
  for (const project of projects()) {
    note(hash, join(project, "package.json"));
    note(hash, join(project, "tsconfig.json"));
    hash.update(String(existsSync(join(project, "dist", ".tsbuildinfo"))));
    noteFolder(hash, join(project, "src"));
  }
  return hash.digest("hex");
}

function projects() {
  const { references } = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8"));
  return references.map(({ path }) => join(root, path));
}

function noteFolder(hash, folder) {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) noteFolder(hash, path);
    else note(hash, path);
  }
}

function note(hash, file) {
  const found = statSync(file, { throwIfNoEntry: false });
  hash.update(`${file}:${found?.mtimeMs}:${found?.size}\n`);
}

function readIfThere(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function npmReason(output) {
  const lines = output.split("\n").filter((line) => /^npm (error|ERR!) /.test(line));
  const text = lines.map((line) => line.replace(/^npm (error|ERR!) /, ""));
  return text.find((line) => !/^(code|errno|syscall|path|A complete log)/.test(line)) ?? firstLine(output, /./);
}

function firstLine(output, pattern) {
  return (
    output
      .split("\n")
      .find((line) => pattern.test(line))
      ?.trim() ?? ""
  );
}
