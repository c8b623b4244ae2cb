/** A value as JSON for programs and terminals: JSON escapes only part of what a terminal would obey. */
export function jsonText(value: unknown): string {
  const escape = (character: string): string => `\\u00${character.charCodeAt(0).toString(16)}`;
  return JSON.stringify(value, null, 2).replace(/[\u007f-\u009f]/g, escape);
}
