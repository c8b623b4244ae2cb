import { execFile } from "node:child_process";

/** The oldest NATS server that has message schedules and per-message TTL. */
export const NEEDED_VERSION = "2.12";

const ASK_LIMIT_MS = 5_000;

/** Whether a version such as `2.15.1`, `v2.12.0-RC.1` or `2.15.1-1` is at least {@link NEEDED_VERSION}. */
export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = numbersOf(version);
  const [neededMajor = 0, neededMinor = 0] = numbersOf(NEEDED_VERSION);
  return major > neededMajor || (major === neededMajor && minor >= neededMinor);
}

/** What a binary says of itself, or undefined when it cannot be run or is no NATS server. */
export async function versionOf(binary: string): Promise<string | undefined> {
  const output = await new Promise<string>((resolve) => {
    execFile(binary, ["--version"], { timeout: ASK_LIMIT_MS }, (_error, stdout) => resolve(String(stdout)));
  });
  return /nats-server: v?(\d+\.\d+\S*)/.exec(output)?.[1];
}

function numbersOf(version: string): number[] {
  return version
    .replace(/^v/, "")
    .split(/[.-]/)
    .map((part) => Number.parseInt(part, 10) || 0);
}
