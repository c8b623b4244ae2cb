import type { StatePort, StoredEntry, WriteOutcome } from "@troupe/kernel";

/** A bucket in memory, written by compare-and-set. */
export class MemoryEntries implements StatePort {
  readonly #entries = new Map<string, StoredEntry>();
  #revision = 0;

  async read(key: string): Promise<StoredEntry | null> {
    return this.#entries.get(key) ?? null;
  }

  async write(key: string, text: string, revision: number): Promise<WriteOutcome> {
    if ((this.#entries.get(key)?.revision ?? 0) !== revision) return { kind: "refused" };
    this.#revision += 1;
    this.#entries.set(key, { revision: this.#revision, text });
    return { kind: "stored", revision: this.#revision };
  }
}
