import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type AptSource, parseAptSources, writeAptSource } from "./apt-source.js";
import { distributionMirrors, parseOsRelease, suitesToTry } from "./newer-suite.js";
import { isNewEnough } from "./server-version.js";

const LIST_LIMIT_MS = 60_000;
const DOWNLOAD_LIMIT_MS = 120_000;
/** As root even a question would write the system's package cache. */
const NO_CACHE = ["-o", "Dir::Cache::pkgcache=", "-o", "Dir::Cache::srcpkgcache="];

/**
 * Fetches the distribution's package with the machine's own apt, from its own mirror, and unpacks it. Lists, caches
 * and settings all lie in a folder beside the target, so that nothing of the system changes and no rights are needed.
 *
 * @returns undefined when the binary is at `target`, else the reason.
 */
export async function fromDistribution(target: string, say: (line: string) => void): Promise<string | undefined> {
  const distribution = parseOsRelease(await readFile("/etc/os-release", "utf8").catch(() => ""));
  if (distribution === undefined) return "only Debian and Ubuntu have one that fits";
  const mirrors = distributionMirrors(await sourcesOfMachine(), distribution);
  if (mirrors.length === 0) return "no mirror among this machine's apt sources";
  const suites = suitesToTry(distribution, await ownSuite());
  const refusals: string[] = [];
  for (const mirror of mirrors) {
    for (const suite of suites) {
      say(`fetching a NATS server from ${distribution.id} ${suite} …`);
      const refusal = await fetchFrom({ ...mirror, suites: [suite] }, target);
      if (refusal === undefined) return undefined;
      refusals.push(`${suite}: ${refusal}`);
      // The other suites lie on the same host: trying them would only add waiting.
      if (isUnreachable(refusal)) break;
    }
  }
  return [...new Set(refusals)].join(", ");
}

async function sourcesOfMachine(): Promise<AptSource[]> {
  const parts = "/etc/apt/sources.list.d";
  const names = (await readdir(parts).catch(() => [])).filter((name) => /\.(list|sources)$/.test(name)).sort();
  const files = ["/etc/apt/sources.list", ...names.map((name) => join(parts, name))];
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
  return files.flatMap((file, index) => parseAptSources(file, texts[index] ?? ""));
}

/** Asks the lists that the machine already has, which needs no network, whether its own suite is known to be too old. */
async function ownSuite(): Promise<"may have it" | "too old"> {
  const { output } = await run("apt-cache", [...NO_CACHE, "policy", "nats-server"], { limitMs: 10_000 });
  const candidate = /Candidate: (\d\S*)/.exec(output)?.[1];
  return candidate !== undefined && !isNewEnough(candidate) ? "too old" : "may have it";
}

async function fetchFrom(source: AptSource, target: string): Promise<string | undefined> {
  const work = await mkdtemp(join(dirname(target), "apt-"));
  // A start may be stopped in the middle of this.
  const tidy = (): void => rmSync(work, { recursive: true, force: true });
  process.once("exit", tidy);
  try {
    await mkdir(join(work, "lists", "partial"), { recursive: true });
    await mkdir(join(work, "archives", "partial"), { recursive: true });
    await writeFile(join(work, "nats.sources"), writeAptSource(source));
    await writeFile(join(work, "apt.conf"), aptSettings(work));
    const settings = ["-c", join(work, "apt.conf")];
    const update = await run("apt-get", [...settings, "update"], { limitMs: LIST_LIMIT_MS });
    if (update.code !== 0 || /^(W|E): .*[Ff]ailed to fetch/m.test(update.output)) return aptReason(update.output);
    const policy = await run("apt-cache", [...settings, "policy", "nats-server"], {
      limitMs: LIST_LIMIT_MS,
    });
    const version = /Candidate: (\d\S*)/.exec(policy.output)?.[1];
    if (version === undefined) return "has no such package";
    if (!isNewEnough(version)) return `has version ${version}`;
    const download = await run("apt-get", [...settings, "download", "nats-server"], {
      limitMs: DOWNLOAD_LIMIT_MS,
      cwd: work,
    });
    const deb = (await readdir(work)).find((name) => name.endsWith(".deb"));
    if (download.code !== 0 || deb === undefined) return aptReason(download.output);
    const unpack = await run("dpkg", ["-x", join(work, deb), join(work, "root")], {
      limitMs: LIST_LIMIT_MS,
    });
    if (unpack.code !== 0) return aptReason(unpack.output);
    await chmod(join(work, "root/usr/sbin/nats-server"), 0o755);
    await rename(join(work, "root/usr/sbin/nats-server"), target);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    process.off("exit", tidy);
    tidy();
  }
}

/**
 * Read after the machine's own settings, so that its proxies still hold. Root must not drop to apt's own user, who
 * may not enter the clone; hooks of other packages (which clean system caches) must not run.
 */
function aptSettings(work: string): string {
  return `
Dir::Etc::sourcelist "${work}/nats.sources";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State::Lists "${work}/lists";
Dir::Cache "${work}";
Dir::Cache::archives "${work}/archives";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "0";
Acquire::http::Timeout "5";
Acquire::https::Timeout "5";
#clear APT::Default-Release;
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
`;
}

function isUnreachable(reason: string): boolean {
  return /resolv|[Cc]onnect|timed out|[Tt]imeout|unreachable/.test(reason);
}

function aptReason(output: string): string {
  const line = output.split("\n").find((text) => /^(E|W): /.test(text)) ?? output.trim().split("\n").at(-1) ?? "";
  return (
    line
      .replace(/^[EW]: /, "")
      .replace(/\s+/g, " ")
      .slice(0, 160) || "apt failed"
  );
}

function run(
  command: string,
  args: string[],
  { limitMs, cwd }: { limitMs: number; cwd?: string },
): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const env = { ...process.env, LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive" };
    const child = execFile(
      command,
      args,
      { cwd, env, timeout: limitMs, maxBuffer: 1 << 24 },
      (error, stdout, stderr) => {
        process.off("exit", stop);
        const failure = error === null ? "" : error.killed ? `${command} timed out` : error.message;
        const output = `${stderr}${stdout}` || failure;
        resolve({ code: error === null ? 0 : 1, output: error?.killed ? `E: ${failure}` : output });
      },
    );
    // Ours must not go on when we do not.
    const stop = (): void => void child.kill("SIGKILL");
    process.once("exit", stop);
  });
}
