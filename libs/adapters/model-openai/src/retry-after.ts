/** How long a provider asks to wait, in milliseconds; undefined when it does not say or not legibly. */
export function retryAfterMs(headers: Headers, nowAt: number): number | undefined {
  const exact = readNumber(headers.get("retry-after-ms"));
  if (exact !== undefined) return Math.round(exact);
  const value = headers.get("retry-after");
  const seconds = readNumber(value);
  if (seconds !== undefined) return Math.round(seconds * 1_000);
  const at = value === null ? Number.NaN : Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowAt);
}

function readNumber(value: string | null): number | undefined {
  if (value === null || !/^\s*\d+(?:\.\d+)?\s*$/.test(value)) return undefined;
  return Number(value);
}
