import { element } from "./element.js";
import { type Inline, inlines, type ListItem, type RichBlock, richBlocks } from "./rich-text.js";

/** Shows a text that may grow, and touches only what has changed: a selection in what was there before stays. */
export class RichTextView {
  readonly root = element("div", "prose");
  #shown: readonly RichBlock[] = [];

  show(text: string): void {
    const blocks = richBlocks(text);
    const nodes = this.root.children;
    for (const [at, block] of blocks.entries()) {
      const before = this.#shown[at];
      if (before !== undefined && same(before, block)) continue;
      const node = blockNode(block);
      const old = nodes[at];
      if (old === undefined) this.root.append(node);
      else old.replaceWith(node);
    }
    while (nodes.length > blocks.length) nodes[nodes.length - 1]?.remove();
    this.#shown = blocks;
  }
}

function same(one: RichBlock, other: RichBlock): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function blockNode(block: RichBlock): HTMLElement {
  switch (block.kind) {
    case "code":
      return codeNode(block.text, block.language);
    case "table":
      return tableNode(block.rows, block.numeric);
    case "rule":
      return element("hr", "");
    case "heading":
      // No heading of the page: an answer's outline is not the page's.
      return directed(element("p", "heading", ...inlineNodes(block.text)));
    case "quote":
      return directed(element("blockquote", "", ...inlineNodes(block.text)));
    case "list":
      return element("ul", "", ...block.items.map(itemNode));
    case "paragraph":
      return directed(element("p", "", ...inlineNodes(block.text)));
  }
}

function itemNode({ text, marker, depth }: ListItem): HTMLElement {
  const words = directed(element("div", "", ...inlineNodes(text)));
  return element("li", `depth-${depth}`, element("span", "marker", marker), words);
}

function directed<T extends HTMLElement>(node: T): T {
  node.dir = "auto";
  return node;
}

function codeNode(text: string, language: string): HTMLElement {
  const copy = element("button", "copy", "Copy");
  copy.type = "button";
  copy.addEventListener("click", () => void copyText(text, copy));
  const head = element("div", "code-head", element("span", "", language), copy);
  return element("div", "code", head, preformatted(text, language === "" ? "Code" : `Code, ${language}`));
}

function tableNode(rows: readonly (readonly string[])[], numeric: readonly boolean[]): HTMLElement {
  const row = (tag: "th" | "td", cells: readonly string[]): HTMLElement => {
    const nodes = cells.map((cell, at) => directed(element(tag, numeric[at] ? "end" : "", ...inlineNodes(cell))));
    return element("tr", "", ...nodes);
  };
  const [head = [], ...body] = rows;
  const table = element(
    "table",
    "",
    element("thead", "", row("th", head)),
    element("tbody", "", ...body.map((cells) => row("td", cells))),
  );
  return scrolled(element("div", "table", table), "Table");
}

function preformatted(text: string, label: string): HTMLElement {
  const pre = scrolled(element("pre", "", element("code", "", text)), label);
  pre.dir = "ltr";
  return pre;
}

/** For what may be wider than the page: it must be scrolled by keyboard, too. */
function scrolled(node: HTMLElement, label: string): HTMLElement {
  node.tabIndex = 0;
  node.setAttribute("role", "group");
  node.setAttribute("aria-label", label);
  return node;
}

async function copyText(text: string, button: HTMLButtonElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    // Browsers give the clipboard to secure pages only.
    button.textContent = "Not allowed here";
  }
  setTimeout(() => {
    button.textContent = "Copy";
  }, 1_500);
}

function inlineNodes(text: string): (Node | string)[] {
  return inlines(text).map(inlineNode);
}

function inlineNode(part: Inline): Node | string {
  switch (part.kind) {
    case "text":
      return part.text;
    case "code":
      return element("code", "", part.text);
    case "strong":
      return element("strong", "", part.text);
    case "link": {
      const link = element("a", "", part.text);
      link.href = part.href;
      link.rel = "noopener noreferrer nofollow";
      link.target = "_blank";
      return link;
    }
  }
}
