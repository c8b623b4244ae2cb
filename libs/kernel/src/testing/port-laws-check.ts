/** Throws when a law is broken; the message says how. */
export function check(holds: boolean, law: string): void {
  if (!holds) throw new Error(law);
}

/** Compares as JSON: bodies and items are data. */
export function same(actual: unknown, expected: unknown, what: string): void {
  const found = JSON.stringify(actual);
  const wanted = JSON.stringify(expected);
  check(found === wanted, `${what}: expected ${wanted}, found ${found}`);
}

/** Names that must stay apart, in every shape a person or a channel may make. */
export const AWKWARD_NAMES: readonly string[] = [
  "telegram:42",
  "telegram/42",
  "telegram.42",
  "telegram_42",
  "telegram=3A42",
  "a.b",
  "a",
  "ab",
  "A",
  " a",
  "a ",
  "a*",
  "a>",
  "*",
  ">",
  "北京的对话",
  "北京",
  "😀",
  "😀😀",
  "e\u0301",
  "\u00e9",
  "..",
  "%2E",
  "x\ny",
];
