import { byId } from "./element.js";

/** Asks whether the conversation shall really be forgotten. */
export class ResetDialog {
  readonly #dialog = byId("reset-dialog", HTMLDialogElement);

  /** @param confirmed called when the person means it */
  constructor(confirmed: () => void) {
    byId("reset-cancel", HTMLButtonElement).addEventListener("click", () => this.#dialog.close());
    byId("reset-confirm", HTMLButtonElement).addEventListener("click", () => {
      this.#dialog.close();
      confirmed();
    });
  }

  get isOpen(): boolean {
    return this.#dialog.open;
  }

  ask(): void {
    this.#dialog.showModal();
  }
}
