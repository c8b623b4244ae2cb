/** What a control character takes in JSON, the most that any character takes per UTF-16 unit. */
export const MOST_JSON_BYTES = 6;

/** Bytes of a text in JSON and UTF-8, or a little more. */
export function jsonLength(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) bytes += bytesOf(text.charCodeAt(i));
  return bytes;
}

/** Whether the text takes more; texts that are far from it are not looked through. */
export function isLongerInJson(text: string, bytes: number): boolean {
  if (text.length * MOST_JSON_BYTES <= bytes) return false;
  return text.length > bytes || jsonLength(text) > bytes;
}

function bytesOf(unit: number): number {
  if (unit < 0x20) return MOST_JSON_BYTES;
  if (unit < 0x80) return unit === 0x22 || unit === 0x5c ? 2 : 1;
  return unit < 0x800 ? 2 : 3;
}
