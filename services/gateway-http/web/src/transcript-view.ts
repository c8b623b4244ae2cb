import { byId, element } from "./element.js";
import type { TurnRecord } from "./turn-record.js";
import { type TurnActions, TurnView } from "./turn-view.js";

/** The list of turns; each keeps its place on the screen as long as it is one of them. */
export class TranscriptView {
  readonly #list = byId("turns", HTMLElement);
  readonly #actions: TurnActions;
  #views = new Map<TurnRecord, TurnView>();
  #tellings: HTMLElement[] = [];

  constructor(actions: TurnActions) {
    this.#actions = actions;
  }

  show(turns: readonly TurnRecord[]): void {
    const views = new Map<TurnRecord, TurnView>();
    for (const record of turns) {
      const view = this.#views.get(record) ?? new TurnView(this.#actions);
      view.show(record);
      views.set(record, view);
    }
    for (const [record, { root }] of this.#views) if (!views.has(record)) root.remove();
    this.#views = views;
    let place: Element | null = this.#list.firstElementChild;
    for (const { root } of views.values()) {
      if (root === place) place = root.nextElementSibling;
      else this.#list.insertBefore(root, place);
    }
  }

  /** A line below everything that belongs to no turn. */
  tell(text: string): void {
    const line = element("div", "line notice telling", element("span", "", text));
    this.#tellings.push(line);
    this.#list.append(line);
  }

  /** Takes such lines away. */
  hush(): void {
    for (const line of this.#tellings.splice(0)) line.remove();
  }
}
