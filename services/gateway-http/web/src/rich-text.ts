/**
 * Reads the little of Markdown that answers are full of, into plain data: nothing here makes HTML, and what is not
 * understood stays the text that it was.
 */
export type Inline =
  | { readonly kind: "text" | "code" | "strong"; readonly text: string }
  | { readonly kind: "link"; readonly text: string; readonly href: string };

export interface ListItem {
  readonly text: string;
  readonly marker: string;
  /** From 0. */
  readonly depth: number;
}

export type RichBlock =
  | { readonly kind: "paragraph" | "heading"; readonly text: string }
  | { readonly kind: "list"; readonly items: readonly ListItem[] }
  | { readonly kind: "quote"; readonly text: string }
  | { readonly kind: "rule" }
  | { readonly kind: "code"; readonly text: string; readonly language: string }
  | { readonly kind: "table"; readonly rows: readonly (readonly string[])[]; readonly numeric: readonly boolean[] };

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/;
const HEADING = /^#{1,6}\s+(.+?)\s*#*$/;
const ITEM = /^(\s*)([-*+]|\d{1,4}[.)])\s+(.*)$/;
const RULE = /^ {0,3}([-*_])(\s*\1){2,}\s*$/;
const QUOTE = /^>\s?(.*)$/;
const TABLE_ROW = /^\s*\|.*\|\s*$/;
const TABLE_DASHES = /^:?-+:?$/;
const MAX_DEPTH = 3;
/** A longer text is shown as it stands: to lay it out would stop the page for seconds. In UTF-16 units. */
const MAX_LENGTH = 400_000;

type FlatBlock =
  | Exclude<RichBlock, { kind: "list" | "table" }>
  | ({ readonly kind: "item" } & ListItem)
  | { readonly kind: "rows"; readonly text: string };

export function richBlocks(source: string): RichBlock[] {
  if (source.length > MAX_LENGTH) return [{ kind: "code", text: source, language: "" }];
  const blocks: RichBlock[] = [];
  for (const block of flatBlocks(source)) {
    const last = blocks.at(-1);
    if (block.kind === "rows") blocks.push(tableOf(block.text));
    else if (block.kind !== "item") blocks.push(block);
    else if (last?.kind === "list") blocks[blocks.length - 1] = { kind: "list", items: [...last.items, block] };
    else blocks.push({ kind: "list", items: [block] });
  }
  return blocks;
}

function flatBlocks(source: string): FlatBlock[] {
  const lines = source.replaceAll("\r\n", "\n").split("\n");
  const blocks: FlatBlock[] = [];
  let open = false;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const fence = FENCE.exec(line);
    if (fence !== null) {
      const end = fenceEnd(lines, at + 1, fence[1] ?? "");
      blocks.push({ kind: "code", text: lines.slice(at + 1, end).join("\n"), language: fence[2] ?? "" });
      at = end;
      open = false;
    } else if (line.trim() === "") {
      open = false;
    } else {
      const block = lineBlock(line);
      const last = blocks.at(-1);
      if (open && last !== undefined && joins(last, block)) blocks[blocks.length - 1] = joined(last, block, line);
      else blocks.push(block);
      open = true;
    }
  }
  return blocks;
}

/** The line that ends a fence, or the end: an answer that is still being written has no last line yet. */
function fenceEnd(lines: readonly string[], from: number, mark: string): number {
  const closing = (line: string): boolean => {
    const text = line.trim();
    return text.startsWith(mark) && text === mark.charAt(0).repeat(text.length);
  };
  const found = lines.slice(from).findIndex(closing);
  return found < 0 ? lines.length : from + found;
}

function lineBlock(line: string): FlatBlock {
  if (RULE.test(line)) return { kind: "rule" };
  const heading = HEADING.exec(line)?.[1];
  if (heading !== undefined) return { kind: "heading", text: heading };
  const item = ITEM.exec(line);
  if (item !== null) {
    const [, indent = "", sign = "", text = ""] = item;
    const depth = Math.min(Math.floor(indent.replaceAll("\t", "    ").length / 2), MAX_DEPTH);
    return { kind: "item", text, marker: /\d/.test(sign) ? sign : "•", depth };
  }
  const quote = QUOTE.exec(line)?.[1];
  if (quote !== undefined) return { kind: "quote", text: quote };
  if (TABLE_ROW.test(line)) return { kind: "rows", text: line.trim() };
  return { kind: "paragraph", text: line };
}

/** The first row is the head if a row of dashes follows; colons there say which columns stand at the end. */
function tableOf(text: string): RichBlock {
  const rows = text.split("\n").map((row) => row.slice(1, -1).split(/(?<!\\)\|/));
  const cells = rows.map((row) => row.map((cell) => cell.replaceAll("\\|", "|").trim()));
  const dashes = cells.findIndex((row) => row.every((cell) => TABLE_DASHES.test(cell)));
  // Rows alone are no table but what they are: text with bars.
  if (dashes !== 1) return { kind: "paragraph", text };
  const numeric = (cells[1] ?? []).map((cell) => cell.endsWith(":") && !cell.startsWith(":"));
  return { kind: "table", rows: cells.filter((_, at) => at !== 1), numeric };
}

/** Whether a line goes on with the block before it. */
function joins(last: FlatBlock, next: FlatBlock): boolean {
  if (next.kind === "paragraph") return last.kind === "paragraph" || last.kind === "item" || last.kind === "quote";
  return (next.kind === "quote" || next.kind === "rows") && next.kind === last.kind;
}

function joined(last: FlatBlock, next: FlatBlock, line: string): FlatBlock {
  if (!("text" in last)) return last;
  const text = "text" in next && next.kind !== "paragraph" ? next.text : line.trimEnd();
  return { ...last, text: `${last.text}\n${last.kind === "item" ? text.trimStart() : text}` };
}

// Each alternative ends within its line or at a mark of its own, so that a long text is read in one pass.
const INLINE = /(`+)([^`\n]+?)\1(?!`)|\*\*(?=\S)([^*\n]+?)\*\*|https?:\/\/[^\s<>"'`]+/g;
/** What ends a sentence rather than an address. */
const AFTER_LINK = /[.,;:!?)\]}*_]+$/;

export function inlines(text: string): Inline[] {
  const parts: Inline[] = [];
  let done = 0;
  const plain = (end: number): void => {
    if (end > done) parts.push({ kind: "text", text: text.slice(done, end) });
  };
  for (const match of text.matchAll(INLINE)) {
    const [whole, , code, strong] = match;
    const part = inlineOf(whole, code, strong);
    if (part === null) continue;
    plain(match.index);
    parts.push(part);
    done = match.index + (part.kind === "link" ? part.text.length : whole.length);
  }
  plain(text.length);
  return parts;
}

function inlineOf(whole: string, code: string | undefined, strong: string | undefined): Inline | null {
  if (code !== undefined) return { kind: "code", text: code };
  if (strong !== undefined) return { kind: "strong", text: strong };
  const text = balanced(whole);
  return URL.canParse(text) ? { kind: "link", text, href: text } : null;
}

/** An address without the punctuation after it; a bracket that closes one of its own belongs to it. */
function balanced(address: string): string {
  const cut = address.replace(AFTER_LINK, "");
  const rest = address.slice(cut.length);
  return cut.includes("(") && !cut.includes(")") && rest.startsWith(")") ? `${cut})` : cut;
}
