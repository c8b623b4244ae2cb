import { byId } from "./element.js";

/** The list of conversations: beside the chat where there is room, over it where there is not. */
export class Drawer {
  readonly #panel = byId("sidebar", HTMLElement);
  readonly #toggle = byId("open-drawer", HTMLButtonElement);
  readonly #shade = byId("shade", HTMLElement);
  readonly #main = byId("main", HTMLElement);
  readonly #narrow = matchMedia("(max-width: 799px)");
  #open = false;

  /** @param opened called before it is shown */
  constructor(opened: () => void) {
    this.#toggle.addEventListener("click", () => {
      opened();
      this.#set(true);
      this.#panel.querySelector<HTMLElement>("[aria-current], button, a")?.focus();
    });
    byId("close-drawer", HTMLButtonElement).addEventListener("click", () => this.close());
    this.#shade.addEventListener("click", () => this.close());
    this.#narrow.addEventListener("change", () => this.#set(false));
    this.#set(false);
  }

  /** Whether it lies over the chat. */
  get covers(): boolean {
    return this.#open && this.#narrow.matches;
  }

  close(): void {
    if (!this.covers) return;
    this.#set(false);
    this.#toggle.focus();
  }

  #set(open: boolean): void {
    this.#open = open;
    this.#toggle.setAttribute("aria-expanded", String(open));
    this.#panel.classList.toggle("open", open);
    this.#shade.hidden = !this.covers;
    // What cannot be seen must not take the focus either.
    this.#panel.inert = this.#narrow.matches && !open;
    this.#main.inert = this.covers;
  }
}
