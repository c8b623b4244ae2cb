import { createHash, timingSafeEqual } from "node:crypto";

/**
 * Decides whether a request shows the token. What is compared are digests, in constant time, so that
 * neither length nor content can be learnt from how long a refusal takes.
 */
export class TokenGate {
  /** The browser's cookie: derived from the token, so that a leaked cookie is not the token itself. */
  readonly cookieValue: string;
  readonly #token: Buffer;
  readonly #cookie: Buffer;

  constructor(token: string) {
    this.cookieValue = createHash("sha256").update(`troupe cookie\n${token}`).digest("base64url");
    this.#token = digest(token);
    this.#cookie = digest(this.cookieValue);
  }

  isToken(candidate: string): boolean {
    return timingSafeEqual(digest(candidate), this.#token);
  }

  /** By `Authorization: Bearer …`; only without that header, by the cookie called `name`. */
  admits(headers: { authorization?: string | undefined; cookie?: string | undefined }, name: string) {
    if (headers.authorization !== undefined) {
      const bearer = /^bearer +(\S+) *$/i.exec(headers.authorization)?.[1];
      return bearer !== undefined && this.isToken(bearer);
    }
    const value = cookieNamed(name, headers.cookie);
    return value !== undefined && timingSafeEqual(digest(value), this.#cookie);
  }
}

/** The value of one cookie in a `Cookie` header (RFC 6265, 4.2.1). */
function cookieNamed(name: string, header: string | undefined): string | undefined {
  for (const pair of header?.split(";") ?? []) {
    const [key, value] = pair.trim().split("=", 2);
    if (key === name) return value;
  }
  return undefined;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
