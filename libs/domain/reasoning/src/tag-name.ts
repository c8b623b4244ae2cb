/**
 * Which names of XML-like tags mean reasoning: `think` (DeepSeek, Qwen, GLM, Kimi K2, MiniMax, Hunyuan,
 * Nemotron, Phi), `thinking`, `reasoning`, `thought` (EXAONE, Marco), and any of them behind a vendor's
 * prefix and a separator (`deepseek_thought`, `seed:think`, `chain_of_thought`). Names of ordinary elements
 * that a person may well ask for (`analysis`, `reason`, `reflection`, `thoughts`, `scratchpad`) are no tags.
 */
const BASES: ReadonlySet<string> = new Set(["think", "thinking", "reasoning", "thought"]);
const SEPARATORS = "_-:.";

/** The family of a tag's name (an end closes an opening of its family), or undefined if it means nothing here. */
export function reasoningFamily(name: string): string | undefined {
  const lower = name.toLowerCase();
  if (BASES.has(lower)) return lower;
  if (lower === "antthinking") return "thinking";
  let cut = lower.length - 1;
  while (cut >= 0 && !SEPARATORS.includes(lower.charAt(cut))) cut--;
  const base = lower.slice(cut + 1);
  return cut > 0 && BASES.has(base) ? base : undefined;
}

/** A character of a tag's or an attribute's name; `.` only in the former. */
export function isNameCharacter(code: number): boolean {
  return isLetter(code) || (code >= 0x30 && code <= 0x39) || code === 0x5f || code === 0x2d || code === 0x3a;
}

export function isLetter(code: number): boolean {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}
