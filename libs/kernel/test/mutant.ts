import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Host } from "../src/host.js";

/** A bug planted into a copy of the kernel, to show that the simulation would find it. */
export interface Mutant {
  readonly name: string;
  /** Only every so many seeds can show it; see `scriptOf`. */
  readonly every?: number;
  readonly edits: readonly { readonly file: string; readonly from: string; readonly to: string }[];
}

const SRC = join(dirname(fileURLToPath(import.meta.url)), "../src");

/** The host of a copy of the kernel with the mutant's edits; each edit must match exactly once. */
export async function plant(mutant: Mutant): Promise<{ Host: typeof Host; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "kernel-mutant-"));
  await cp(SRC, folder, { recursive: true });
  for (const { file, from, to } of mutant.edits) {
    const path = join(folder, file);
    const parts = (await readFile(path, "utf8")).split(from);
    if (parts.length !== 2) throw new Error(`${mutant.name}: "${from}" stands ${parts.length - 1} times in ${file}`);
    await writeFile(path, parts.join(to));
  }
  const module = (await import(join(folder, "host.ts"))) as { Host: typeof Host };
  return { Host: module.Host, remove: () => rm(folder, { recursive: true }) };
}
