/** Overrides of the writing direction: they make a line read as something that it is not. */
const DIRECTION_OVERRIDES = "\\u202d\\u202e";
const UNSAFE = new RegExp(`[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f${DIRECTION_OVERRIDES}]`, "g");

/**
 * Makes text from elsewhere safe to print: whatever a terminal would obey is shown instead of sent. Line feeds and tabs
 * stay, other line ends become line feeds, and everything printable is untouched.
 */
export function sanitise(text: string): string {
  return text
    .replace(/\r\n|\u2028|\u2029/g, "\n")
    .replace(UNSAFE, visible)
    .toWellFormed();
}

/** {@link sanitise} for text that must stay on one line. */
export function sanitiseLine(text: string): string {
  return sanitise(text)
    .replace(/\s*\n\s*/g, " ")
    .replaceAll("\t", " ")
    .trim();
}

function visible(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}
