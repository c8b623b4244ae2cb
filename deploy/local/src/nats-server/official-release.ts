import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/** The public release to fetch: any version that is at least the needed one would do, a fixed one can be relied on. */
const VERSION = "2.15.1";
const RELEASE = `https://github.com/nats-io/nats-server/releases/download/v${VERSION}`;

/** The checksum file is tiny, so its limit doubles as the test whether the host can be reached at all. */
const REACH_LIMIT_MS = 5_000;
const DOWNLOAD_LIMIT_MS = 180_000;

const ARCHITECTURES: Record<string, string> = {
  x64: "amd64",
  arm64: "arm64",
  arm: "arm7",
  ia32: "386",
};

/**
 * Fetches the official release and checks it against the checksum file published beside it.
 *
 * This path cannot be tried where only package registries are reachable. There it fails within seconds with the
 * reason; the tests run it against a local server in place of the release's host.
 *
 * @returns undefined when the binary is at `target`, else the reason.
 */
export async function fromOfficialRelease(
  target: string,
  say: (line: string) => void,
  release: string = RELEASE,
): Promise<string | undefined> {
  const name = archiveName();
  if (name === undefined) return `there is none for ${process.platform} on ${process.arch}`;
  try {
    const sums = await (await get(`${release}/SHA256SUMS`, REACH_LIMIT_MS)).text();
    say(`fetching the official NATS server ${VERSION} …`);
    const archive = Buffer.from(await (await get(`${release}/${name}.tar.gz`, DOWNLOAD_LIMIT_MS)).arrayBuffer());
    const expected = checksumFor(sums, `${name}.tar.gz`);
    if (expected === undefined) return `its checksum file does not name ${name}.tar.gz`;
    const found = createHash("sha256").update(archive).digest("hex");
    if (found !== expected) return `${name}.tar.gz does not match its checksum`;
    await unpack(archive, name, target);
    return undefined;
  } catch (error) {
    return explain(error);
  }
}

/** The checksum of one file in the output format of sha256sum. */
export function checksumFor(sums: string, file: string): string | undefined {
  for (const line of sums.split("\n")) {
    const [sum, name] = line.trim().split(/\s+\*?/);
    if (name === file && sum !== undefined && /^[0-9a-f]{64}$/i.test(sum)) return sum.toLowerCase();
  }
  return undefined;
}

function archiveName(): string | undefined {
  const architecture = ARCHITECTURES[process.arch];
  const fits = process.platform === "linux" || process.platform === "darwin";
  return fits && architecture !== undefined ? `nats-server-v${VERSION}-${process.platform}-${architecture}` : undefined;
}

async function get(url: string, limitMs: number): Promise<Response> {
  const response = await fetch(url, { signal: AbortSignal.timeout(limitMs) });
  if (!response.ok) throw new Error(`${new URL(url).host} answered ${response.status}`);
  return response;
}

async function unpack(archive: Buffer, name: string, target: string): Promise<void> {
  const work = await mkdtemp(join(dirname(target), "release-"));
  try {
    await writeFile(join(work, "archive.tar.gz"), archive);
    await promisify(execFile)("tar", ["-xzf", "archive.tar.gz", `${name}/nats-server`], {
      cwd: work,
    });
    await chmod(join(work, name, "nats-server"), 0o755);
    await rename(join(work, name, "nats-server"), target);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** fetch hides the errno in `cause` and calls everything "fetch failed". */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return "its host did not answer in time";
  const cause = error.cause instanceof Error ? error.cause.message || error.cause.name : undefined;
  return (cause ?? error.message).split("\n", 1)[0] ?? error.name;
}
