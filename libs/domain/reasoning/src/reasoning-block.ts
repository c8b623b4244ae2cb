import type { Tag } from "./tag.js";

/**
 * One block of reasoning, from its opening tag to the end that belongs to it, in constant memory: blocks of
 * the outermost family are counted, others only so far that their ends can be told from a mistaken one.
 */
export class ReasoningBlock {
  readonly #family: string;
  readonly #inner = new Map<string, number>();
  #depth = 1;

  constructor(opening: Tag) {
    this.#family = opening.family;
  }

  /** Takes a tag found inside; true if the block ends with it. */
  take(tag: Tag): boolean {
    if (tag.kind === "open" && tag.nests) this.#open(tag.family);
    return tag.kind === "end" && this.#end(tag.family);
  }

  #open(family: string): void {
    if (family === this.#family) this.#depth++;
    else this.#inner.set(family, (this.#inner.get(family) ?? 0) + 1);
  }

  #end(family: string): boolean {
    const inner = this.#inner.get(family) ?? 0;
    // `<think>…</thinking>`: models mix names up; an end that nothing inside asked for ends the block.
    if (inner === 0) return --this.#depth === 0;
    this.#inner.set(family, inner - 1);
    return false;
  }
}
