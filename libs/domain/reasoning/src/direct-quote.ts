const CLOSERS: ReadonlyMap<number, string> = new Map([
  [0x22, '"'],
  [0x27, "'"],
  [0x60, "`"],
  [0x201c, "\u201d"], // “ ”
  [0x2018, "\u2019"], // ‘ ’
  [0x201e, "\u201c\u201d"], // „ “
  [0xab, "\u00bb"], // « »
  [0x2039, "\u203a"], // ‹ ›
  [0x300c, "\u300d"], // 「 」
  [0x300e, "\u300f"], // 『 』
  [0x300a, "\u300b"], // 《 》
]);
const SYMMETRIC = 0x60;

/** The last two characters of a text, to tell whether what follows stands directly in quotation marks. */
export class DirectQuote {
  #last = 0;
  #beforeLast = 0;

  push(code: number): void {
    this.#beforeLast = this.#last;
    this.#last = code;
  }

  /** The marks that would close the quotation opened by the last character; "" if it opens none. */
  closers(): string {
    const closers = CLOSERS.get(this.#last);
    if (closers === undefined) return "";
    // `say "hi"</think>"Hello"`: a mark behind a word or a full stop closes, it does not open.
    return this.#last <= SYMMETRIC && isWordEnd(this.#beforeLast) ? "" : closers;
  }
}

function isWordEnd(code: number): boolean {
  const lower = code | 0x20;
  if ((lower >= 0x61 && lower <= 0x7a) || (code >= 0x30 && code <= 0x39)) return true;
  return code === 0x2e || code === 0x21 || code === 0x3f || code === 0x29;
}
