/**
 * Makes an element with a class and children. Text becomes a text node: nothing of what people or models write is ever
 * read as HTML.
 */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className: string,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (className !== "") made.className = className;
  made.append(...children);
  return made;
}

/** The element of the page with this id. */
export function byId<T extends HTMLElement>(id: string, form: new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof form) return found;
  throw new Error(`the page has no ${form.name} #${id}`);
}
