/**
 * Tokens: text of any kind as one NATS subject token that is also a valid KV key part.
 *
 * T1 Reversible: `decodeToken(encodeToken(s)) === s` for every well-formed string.
 * T2 Without collisions: two strings never share a token; a token has one spelling only.
 * T3 Safe: a token is made of `A-Z a-z 0-9 - _ =`, so it holds no `.`, `*`, `>` or blank.
 *
 * The form is that of percent-encoding (RFC 3986, section 2.1) with `=` in place of `%`, which
 * neither a subject nor a key may hold.
 */

/** Longest token in characters; keeps every subject far below the server's 4 KiB control line. */
export const MAX_TOKEN_LENGTH = 480;

/** Characters that `encodeURIComponent` leaves alone and a subject token must not hold. */
const LEFT_ALONE = /[!'()*.~]/g;

export type TokenResult =
  | { readonly ok: true; readonly token: string }
  | { readonly ok: false; readonly reason: string };

/** T1–T3. Refuses empty text, text that is not well-formed Unicode, and text that is too long. */
export function encodeToken(text: string): TokenResult {
  if (text === "") return { ok: false, reason: "must not be empty" };
  if (!text.isWellFormed())
    return { ok: false, reason: "must be well-formed Unicode (it holds half of a surrogate pair)" };
  const token = encodeURIComponent(text)
    .replace(LEFT_ALONE, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%", "=");
  if (token.length > MAX_TOKEN_LENGTH) {
    return { ok: false, reason: `is too long (${token.length} encoded characters, at most ${MAX_TOKEN_LENGTH})` };
  }
  return { ok: true, token };
}

/** Whether text is made of what a token is made of (T3). */
export const isToken = (text: string): boolean => /^[A-Za-z0-9_=-]+$/.test(text);

/** The text behind a token, or undefined when the token is not one that `encodeToken` makes (T2). */
export function decodeToken(token: string): string | undefined {
  if (!isToken(token)) return undefined;
  try {
    const text = decodeURIComponent(token.replaceAll("=", "%"));
    const again = encodeToken(text);
    return again.ok && again.token === token ? text : undefined;
  } catch {
    return undefined;
  }
}
