import type { Tag } from "./tag.js";

/**
 * Special tokens of models that mark reasoning and reach the text when a server does not take them out.
 * They are written exactly so and by nobody else, hence safe from false positives. `[THINK]` counts in
 * upper case only (a link may be called "think"); the others in any case.
 */
const TOKENS: readonly (readonly [text: string, kind: Tag["kind"], family: string])[] = [
  ["[THINK]", "open", "mistral"],
  ["[/THINK]", "end", "mistral"],
  ["\u25c1think\u25b7", "open", "kimi"],
  ["\u25c1/think\u25b7", "end", "kimi"],
  ["<|think|>", "open", "think"],
  ["<|/think|>", "end", "think"],
  ["<|thinking|>", "open", "thinking"],
  ["<|/thinking|>", "end", "thinking"],
  ["<|start_thinking|>", "open", "command"],
  ["<|end_thinking|>", "end", "command"],
  ["<|begin_of_thought|>", "open", "begin-of-thought"],
  ["<|end_of_thought|>", "end", "begin-of-thought"],
  // Harmony: everything from the first analysis to the final channel, however many messages lie between.
  ["<|channel|>analysis", "open", "harmony"],
  ["<|channel|>final", "end", "harmony"],
  ["<|start|>assistant", "void", "harmony"],
  ["<|message|>", "void", "harmony"],
  ["<|return|>", "void", "harmony"],
  ["<|channel>thought", "open", "gemma"],
  ["<channel|>", "end", "gemma"],
];

const FLAT_FAMILIES: ReadonlySet<string> = new Set(["harmony", "gemma"]);

/** A step into the tokens: which characters may follow, and the tag if one is complete. */
export interface TokenNode {
  readonly next: Map<number, TokenNode>;
  tag?: Tag;
}

const ROOT: TokenNode = { next: new Map() };
for (const [text, kind, family] of TOKENS) {
  let node = ROOT;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    let child = node.next.get(code);
    if (child === undefined) node.next.set(code, (child = { next: new Map() }));
    node = child;
  }
  node.tag = { kind, family, nests: !FLAT_FAMILIES.has(family) };
}

/** Whether a tag may begin with this character. */
export function startsTag(code: number): boolean {
  return code === 0x3c || code === 0x5b || code === 0x25c1;
}

/** The node of all tokens that begin with `text`, or undefined if there are none. */
export function tokenNode(text: string): TokenNode | undefined {
  let node: TokenNode | undefined = ROOT;
  const anyCase = text.charCodeAt(0) !== 0x5b;
  for (let i = 0; i < text.length && node !== undefined; i++) node = nextToken(node, text.charCodeAt(i), anyCase);
  return node;
}

/** One character further, or undefined if no token goes on so. */
export function nextToken(node: TokenNode, code: number, anyCase: boolean): TokenNode | undefined {
  return node.next.get(anyCase && code >= 0x41 && code <= 0x5a ? code + 0x20 : code);
}
