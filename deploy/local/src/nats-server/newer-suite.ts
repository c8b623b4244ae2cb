import type { AptSource } from "./apt-source.js";

/**
 * Suites that carry a new enough server, oldest first so that the binary stays close to the machine's own C library.
 * Debian 13 has 2.10, so the first is 14; `sid` and `devel` are always there, whatever has been released meanwhile.
 */
const NEWER_SUITES: Record<string, readonly string[]> = {
  debian: ["forky", "sid"],
  ubuntu: ["resolute", "devel"],
};

/** Where the package lies within the distribution. */
const COMPONENT: Record<string, string> = { debian: "main", ubuntu: "universe" };

/** What /etc/os-release says: which distribution, and the name of its release. */
export interface Distribution {
  readonly id: string;
  readonly codename: string;
}

/** Reads /etc/os-release; undefined when the machine is neither Debian nor Ubuntu (nor says that it is like one). */
export function parseOsRelease(text: string): Distribution | undefined {
  const field = (name: string) => new RegExp(`^${name}="?([^"\\n]*)"?$`, "m").exec(text)?.[1] ?? "";
  const id = [field("ID"), ...field("ID_LIKE").split(" ")].find((name) => name in NEWER_SUITES);
  if (id === undefined) return undefined;
  return { id, codename: field("UBUNTU_CODENAME") || field("VERSION_CODENAME") };
}

/** The suites to look for the package in, the machine's own first if that one may have it. */
export function suitesToTry({ id, codename }: Distribution, own: "may have it" | "too old"): string[] {
  const newer = NEWER_SUITES[id] ?? [];
  const first = own === "may have it" && codename !== "" ? [codename] : [];
  return [...new Set([...first, ...newer])];
}

/**
 * The distribution's own mirrors among all sources of the machine, most certain first, at most two. Sources of other
 * makers also carry release names as suites, but not the `-updates` suite beside it and not the archive's key.
 */
export function distributionMirrors(sources: readonly AptSource[], { id, codename }: Distribution): AptSource[] {
  const component = COMPONENT[id] ?? "main";
  const own = new Set([codename, "stable", "testing", "unstable", "devel", ...(NEWER_SUITES[id] ?? [])]);
  const withUpdates = new Set(
    sources.filter(({ suites }) => suites.some((suite) => suite.endsWith("-updates"))).flatMap(({ uris }) => uris),
  );
  const certainty = (source: AptSource) =>
    (source.uris.some((uri) => withUpdates.has(uri)) ? 2 : 0) + (source.signedBy?.includes(`${id}-archive`) ? 1 : 0);
  return sources
    .filter(
      ({ suites, uris }) => suites.some((suite) => own.has(suite)) && !uris.some((uri) => uri.startsWith("cdrom:")),
    )
    .sort((a, b) => certainty(b) - certainty(a))
    .filter((one, index, all) => all.findIndex((other) => other.uris.join() === one.uris.join()) === index)
    .slice(0, 2)
    .map((source) => ({ ...source, components: [component] }));
}
