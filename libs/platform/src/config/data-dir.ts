import { readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/**
 * Where this installation keeps its state: `TROUPE_DATA`, else `.troupe` in the project's root, which is looked for
 * upwards from the entry script, so that every process finds the same folder whatever its working directory is.
 */
export function dataDirOf(configured: string | undefined, entryScript: string | undefined): string {
  if (configured !== undefined) return resolve(configured);
  return join((entryScript && projectRoot(entryScript)) || process.cwd(), ".troupe");
}

function projectRoot(entryScript: string): string | undefined {
  let folder: string;
  try {
    // A command in node_modules/.bin is a link to its script.
    folder = dirname(realpathSync(entryScript));
  } catch {
    return undefined;
  }
  while (packageName(folder) !== "troupe") {
    const parent = dirname(folder);
    if (parent === folder) return undefined;
    folder = parent;
  }
  return folder;
}

function packageName(folder: string): unknown {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return typeof manifest === "object" && manifest !== null && "name" in manifest ? manifest.name : undefined;
  } catch {
    return undefined;
  }
}
