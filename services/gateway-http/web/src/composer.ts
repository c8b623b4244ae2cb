import { byId } from "./element.js";

const MAX_LENGTH = 100_000;

export interface ComposerActions {
  send(text: string): void;
  cancel(): void;
}

/** Where the person writes. */
export class Composer {
  readonly #form = byId("composer", HTMLFormElement);
  readonly #text = byId("text", HTMLTextAreaElement);
  readonly #send = byId("send", HTMLButtonElement);
  readonly #stop = byId("stop", HTMLButtonElement);
  readonly #actions: ComposerActions;

  constructor(actions: ComposerActions) {
    this.#actions = actions;
    this.#text.maxLength = MAX_LENGTH;
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#text.addEventListener("input", () => this.#fit());
    this.#text.addEventListener("keydown", (event) => this.#key(event));
    this.#stop.addEventListener("click", () => {
      this.focus();
      actions.cancel();
    });
    this.#fit();
  }

  focus(): void {
    this.#text.focus();
  }

  /** What is written and not sent. */
  get draft(): string {
    return this.#text.value;
  }

  set draft(text: string) {
    this.#text.value = text;
    this.#fit();
  }

  show({ busy, cancelling }: { readonly busy: boolean; readonly cancelling: boolean }): void {
    this.#stop.hidden = !busy;
    this.#stop.disabled = cancelling;
    this.#text.placeholder = busy ? "Write the next message…" : "Write a message…";
  }

  #key(event: KeyboardEvent): void {
    // While an input method composes, Enter and Esc are its own. (Safari reports the Enter that ends a composition
    // after its end, with the old key code.)
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key !== "Enter" || event.shiftKey || event.altKey) return;
    event.preventDefault();
    this.#submit();
  }

  #submit(): void {
    const text = this.#text.value.trim();
    if (text === "") return;
    this.draft = "";
    this.focus();
    this.#actions.send(text.toWellFormed());
  }

  #fit(): void {
    this.#text.style.height = "auto";
    this.#text.style.height = `${this.#text.scrollHeight}px`;
    this.#send.disabled = this.#text.value.trim() === "";
  }
}
