import { element } from "./element.js";
import { RichTextView } from "./rich-text-view.js";
import type { TurnItem, TurnRecord } from "./turn-record.js";

/** Detail of a tool that is longer is cut: the whole of it is in the log. */
const MAX_DETAIL = 20_000;

export interface TurnActions {
  sendAgain(record: TurnRecord): void;
  discard(record: TurnRecord): void;
}

/** What is on the screen for one item of a turn. */
interface ItemView {
  readonly kind: TurnItem["kind"];
  readonly root: HTMLElement;
  show(item: TurnItem): void;
}

/** Shows one turn: the question, what was done for it, and its end. What does not change is not touched. */
export class TurnView {
  readonly root = element("article", "turn");
  readonly #actions: TurnActions;
  #views = new Map<string, ItemView>();

  constructor(actions: TurnActions) {
    this.#actions = actions;
  }

  show(record: TurnRecord): void {
    const items = record.items();
    const views = new Map<string, ItemView>();
    for (const item of items) {
      const known = this.#views.get(item.key);
      const view = known?.kind === item.kind ? known : this.#create(item, record);
      view.show(item);
      views.set(item.key, view);
    }
    for (const [key, { root }] of this.#views) if (views.get(key)?.root !== root) root.remove();
    this.#views = views;
    let place: Element | null = this.root.firstElementChild;
    for (const { root } of views.values()) {
      // Moved only when it stands elsewhere: moving would end a selection or an open detail in it.
      if (root === place) place = root.nextElementSibling;
      else this.root.insertBefore(root, place);
    }
  }

  #create(item: TurnItem, record: TurnRecord): ItemView {
    switch (item.kind) {
      case "question":
        return questionView();
      case "answer":
        return answerView();
      case "tool":
        return toolView();
      case "notice":
      case "quiet":
      case "error":
        return lineView(item.kind);
      case "thinking":
        return thinkingView();
      case "unsent":
        return this.#unsentView(record);
    }
  }

  #unsentView(record: TurnRecord): ItemView {
    const reason = element("span", "");
    const button = (label: string, act: () => void): HTMLButtonElement => {
      const made = element("button", "text-button", label);
      made.type = "button";
      made.addEventListener("click", act);
      return made;
    };
    const again = button("Send again", () => this.#actions.sendAgain(record));
    const discard = button("Discard", () => this.#actions.discard(record));
    const root = element("div", "line error", reason, element("span", "line-actions", again, discard));
    return {
      kind: "unsent",
      root,
      show: (item) => setText(reason, item.kind === "unsent" ? `Not sent: ${item.text}` : ""),
    };
  }
}

function questionView(): ItemView {
  const words = element("div", "bubble");
  words.dir = "auto";
  const root = element("div", "question", element("h2", "visually-hidden", "You said"), words);
  return { kind: "question", root, show: (item) => setText(words, item.kind === "question" ? item.text : "") };
}

function answerView(): ItemView {
  const text = new RichTextView();
  const root = element("div", "answer", element("h2", "visually-hidden", "Answer"), text.root);
  return {
    kind: "answer",
    root,
    show: (item) => {
      if (item.kind !== "answer") return;
      text.show(item.text);
      root.classList.toggle("preview", item.preview);
    },
  };
}

const TOOL_STATES: Readonly<Record<string, string>> = {
  started: "running…",
  done: "done",
  error: "failed",
  denied: "not allowed",
  unknown: "outcome unknown",
};

function toolView(): ItemView {
  const mark = element("span", "tool-mark");
  const name = element("code", "tool-name");
  const state = element("span", "tool-state");
  const detail = element("pre", "");
  detail.tabIndex = 0;
  detail.dir = "ltr";
  const root = element("details", "tool", element("summary", "", mark, name, state), detail);
  return {
    kind: "tool",
    root,
    show: (item) => {
      if (item.kind !== "tool") return;
      root.dataset["state"] = item.status;
      setText(name, item.name);
      setText(state, TOOL_STATES[item.status] ?? item.status);
      const { detail: text } = item;
      setText(detail, text.length > MAX_DETAIL ? `${text.slice(0, MAX_DETAIL)}…` : text || "Nothing to show.");
    },
  };
}

function lineView(kind: "notice" | "quiet" | "error"): ItemView {
  const words = element("span", "");
  words.dir = "auto";
  const root = element("div", `line ${kind}`, words);
  return { kind, root, show: (item) => setText(words, item.kind === kind ? item.text : "") };
}

function thinkingView(): ItemView {
  const dots = element("span", "dots", element("i", ""), element("i", ""), element("i", ""));
  dots.setAttribute("aria-hidden", "true");
  const root = element("div", "thinking", dots, element("span", "visually-hidden", "Working on it"));
  return { kind: "thinking", root, show: () => {} };
}

function setText(node: HTMLElement, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}
