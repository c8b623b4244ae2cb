import type { CallOptions, ModelTarget } from "./model-router.js";

/** What a person has seen of the present try; void as soon as another try begins. */
export class ShownText {
  readonly #options: Pick<CallOptions, "onText" | "onReset">;
  #target: ModelTarget | undefined;
  #shown = false;

  constructor(options: Pick<CallOptions, "onText" | "onReset">) {
    this.#options = options;
  }

  begin(target: ModelTarget): void {
    const reason = target === this.#target ? "recovered" : "fallback";
    if (this.#shown) this.#options.onReset(reason);
    this.#shown = false;
    this.#target = target;
  }

  add(text: string): void {
    this.#shown = true;
    this.#options.onText(text);
  }
}
